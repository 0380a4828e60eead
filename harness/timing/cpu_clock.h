// The clock of the core this thread runs on, measured.
#pragma once

namespace pairmark {

// MHz, from the time of a chain of dependent integer additions (one cycle each on every x86-64 and
// Arm core of the last twenty years). The best of several short tries, since an interrupt can only
// add time; takes about 2 ms.
double measure_cpu_clock_mhz();

}  // namespace pairmark
