package tools

// native are compiled programs that read input files. Who runs one has no code of it to change.
var native = []Tool{
	{Name: "GROMACS", Words: []string{"gromacs", "mdrun", "gmx_mpi"}, Does: Runs, Native: true,
		Source: "https://manual.gromacs.org/current/user-guide/mdrun-performance.html",
		Levers: []Lever{{Offload, "-pme cpu", "cpu"}, {Offload, "-nb cpu", "cpu"}}},
	{Name: "LAMMPS", Words: []string{"lammps", "lmp", "lmp_mpi", "lmp_gpu"}, Does: Runs, Native: true,
		Source: "https://docs.lammps.org/package.html",
		Levers: []Lever{{Offload, "package gpu 1 neigh no", "cpu"}}},
	{Name: "NAMD", Words: []string{"namd", "namd2", "namd3"}, Does: Runs, Native: true,
		Source: "https://www.ks.uiuc.edu/Research/namd/3.0/ug/node106.html",
		Levers: []Lever{{Input, "pairlistdist 13.5", "nodes"}, {Offload, "GPUresident off", "cpu"}}},
	{Name: "Amber", Words: []string{"pmemd"}, Does: Runs, Native: true,
		Source: "https://ambermd.org/GPUHardware.php",
		Levers: []Lever{{Input, "cut=8.0", "nodes"}}},
}
