//! A naive index, so simple that it is unlikely to be wrong; tests hold the engine equal to it.
