import { z } from 'zod';
import { fromJson, type Sql, statement } from './database.ts';

/** The model's text in one step besides its answer, shortened: for people who look for a cause, and no others. */
export interface StepAside {
  /** The number of the step in the journal. */
  readonly step: number;
  readonly reasoning: string;
  /** The length of all its reasoning. */
  readonly reasoningCharacters: number;
  /** Calls that it wrote into its text and that were not run, with the reason. */
  readonly dropped: readonly { readonly raw: string; readonly problem: string }[];
}

const Content = z.object({
  aside: z.object({
    reasoning: z.string(),
    reasoningCharacters: z.number(),
    dropped: z.array(z.object({ raw: z.string(), problem: z.string() })),
  }),
});

/** The asides of a turn's steps that have one, in their order. */
export async function readAsides(sql: Sql, turnId: string): Promise<readonly StepAside[]> {
  const rows = await sql.all(STEPS, { turnId });
  return rows.flatMap(({ step, content }) => {
    const { data } = Content.safeParse(fromJson(content));
    return data === undefined ? [] : [{ step, ...data.aside }];
  });
}

const STEPS = statement(`
  select step_index as step, content from turn_step
  where turn_id = :turnId and content like '%"aside"%' order by step_index`).rows<{
  readonly step: number;
  readonly content: string;
}>();
