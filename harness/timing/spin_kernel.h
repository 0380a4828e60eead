// Between spin.cpp and spin.cu, which nvcc compiles: it cannot take fmt 9, so neither Error nor
// JSON passes here.
#pragma once

namespace pairmark {

// One thread spins for this long on the stream; CUDA's words when the launch failed, else nullptr.
const char* launch_spin(unsigned long long duration_ns, void* stream);

}  // namespace pairmark
