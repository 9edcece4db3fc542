import { Audience } from '@parley/contracts';
import { z } from 'zod';

/** The skills of one session: made when it begins, the same in each of its turns (S07). Survives JSON. */
export const SkillSnapshot = z.readonly(
  z.object({
    /** Changes whenever the text would. */
    version: z.string(),
    /** `<available_skills>…</available_skills>`; empty where no skill is eligible. */
    catalogue: z.string(),
    /** Bodies that stand in the prompt themselves (`inline`, S06). */
    inline: z.readonly(z.array(z.readonly(z.object({ name: z.string(), body: z.string() })))),
    /** Names the model may use, in the order of the catalogue. */
    names: z.readonly(z.array(z.string())),
    /** Environment variables that the skills ask for. */
    requiredEnv: z.readonly(z.array(z.string())),
    /** The names that were allowed; null: all. */
    filter: z.readonly(z.array(z.string())).nullable(),
    /** How many eligible skills the limits left out (S05). */
    left: z.int().nonnegative(),
    /** The strictest audience of what it was made from. */
    audience: Audience,
  }),
);
export type SkillSnapshot = z.infer<typeof SkillSnapshot>;
