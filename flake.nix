{
  description = "Terminal monitor for NVIDIA GPUs that keeps the true peak of their memory";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: rec {
        nvpeak = (pkgs.buildGo126Module or pkgs.buildGoModule) {
          pname = "nvpeak";
          version = "0.1.0";
          src = self;
          # packaging/vendor-hash prints it; CI compares
          vendorHash = "sha256-mS+ANbdWdGk3GriEY8xzP3lMOtc4lvZ7da9b+GJiKXw=";
          subPackages = [ "." "docs/man" ];
          nativeBuildInputs = [ pkgs.installShellFiles pkgs.makeWrapper ];
          # the driver's functions are bound when they are first called
          hardeningDisable = [ "bindnow" ];
          ldflags = [ "-s" "-w" "-X nvpeak/ui/cli.Version=0.1.0" "-X nvpeak/ui/cli.Commit=${self.rev or ""}" "-extldflags=-Wl,-z,lazy" ];
          doCheck = false; # the tests want gcc and a terminal; CI runs them
          postInstall = ''
            mkdir pages
            $out/bin/man pages 0.1.0 1970-01-01
            rm $out/bin/man
            installManPage pages/*.1
            installShellCompletion --cmd nvpeak \
              --bash <($out/bin/nvpeak completion bash) --zsh <($out/bin/nvpeak completion zsh) --fish <($out/bin/nvpeak completion fish)
            # where NixOS keeps the library of the driver
            wrapProgram $out/bin/nvpeak --suffix LD_LIBRARY_PATH : /run/opengl-driver/lib
          '';
          meta = {
            description = "Terminal monitor for NVIDIA GPUs that keeps the true peak of their memory";
            license = pkgs.lib.licenses.mit;
            mainProgram = "nvpeak";
            platforms = systems;
          };
        };
        default = nvpeak;
      });
    };
}
