"""GPU kernels: tensors in, tensors out, on the device where they are.

A module in torch has the bits of `kernels.reference`; where it is slow, a module with the same name and `_triton`
does the same in Triton kernels. `host_arrays` is the executor for arrays in host memory.
"""
