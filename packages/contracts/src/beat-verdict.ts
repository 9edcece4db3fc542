/** What becomes of the answer to a heartbeat (H03, H04). Whoever runs heartbeats decides, the agent obeys. */
export type BeatVerdict =
  /** Nobody hears of it. `reason` is for the log and for `/heartbeat`. */
  | { readonly state: 'quiet' | 'unclear' | 'repeated'; readonly reason: string }
  | {
      readonly state: 'alerted';
      /** Markdown without the system’s mark, which it gets. */
      readonly text: string;
      /** The same for two alerts that say the same. */
      readonly fingerprint: string;
      /** Before that (ms) nobody is told. */
      readonly heldUntil?: number;
    };

/** Judges the last words of a run of a standing task; called again if the turn has to be run again. */
export type JudgeBeat = (
  answer: string,
  run: { readonly id: string; readonly agent: string; readonly task: string },
) => Promise<BeatVerdict>;
