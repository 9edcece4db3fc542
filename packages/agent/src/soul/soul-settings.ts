/** Longest soul, in characters. */
export const LONGEST_SOUL = 8_000;

/** When a version of SOUL.md that has passed comes into use (W06). */
export interface SoulSettings {
  /** `ask`: when the owner says so; `never`: SOUL.md stays as it is. */
  readonly apply: 'after-veto-time' | 'ask' | 'never';
  readonly vetoHours: number;
}
