/** What a standing task may run in place of an instruction: work that is built in (H07). */
export const BEAT_ROUTINES = ['memory-upkeep'] as const;
export type BeatRoutine = (typeof BEAT_ROUTINES)[number];
