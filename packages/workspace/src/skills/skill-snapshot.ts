import type { Audience } from '@parley/contracts';

/** The skills of one session: made when it begins, the same in each of its turns (S07). Survives JSON. */
export interface SkillSnapshot {
  /** Changes whenever the text would. */
  readonly version: string;
  /** `<available_skills>…</available_skills>`; empty where no skill is eligible. */
  readonly catalogue: string;
  /** Bodies that stand in the prompt themselves (`inline`, S06). */
  readonly inline: readonly { readonly name: string; readonly body: string }[];
  /** Names the model may use, in the order of the catalogue. */
  readonly names: readonly string[];
  /** Environment variables that the skills ask for. */
  readonly requiredEnv: readonly string[];
  /** The names that were allowed; null: all. */
  readonly filter: readonly string[] | null;
  /** How many eligible skills the limits left out (S05). */
  readonly left: number;
  /** The strictest audience of what it was made from. */
  readonly audience: Audience;
}
