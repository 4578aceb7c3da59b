"""What torch imports late: a look at the allocator's stacks is not the moment."""
import threading

imported_by_main = threading.current_thread() is threading.main_thread()
