class Nvpeak < Formula
  desc "Terminal monitor for NVIDIA GPUs that keeps the true peak of their memory"
  homepage "https://example.com/nvpeak" # where the releases are
  url "https://example.com/nvpeak/archive/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "go" => :build
  depends_on :linux

  def install
    # -z lazy: the driver's functions are bound when they are first called
    ldflags = "-s -w -X nvpeak/ui/cli.Version=#{version} -extldflags=-Wl,-z,lazy"
    ENV["CGO_ENABLED"] = "1"
    system "go", "build", *std_go_args(ldflags:)
    generate_completions_from_executable(bin/"nvpeak", "completion")
    mkdir "man"
    system "go", "run", "./docs/man", "man", version.to_s, Time.now.utc.strftime("%Y-%m-%d")
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/nvpeak version")
    assert_match "DEMO training", shell_output("#{bin}/nvpeak once --demo")
  end
end
