"""Runs a command and prints the most memory that it, or a process of its own, had at once: `peak KIB`."""

import resource
import subprocess
import sys

code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
