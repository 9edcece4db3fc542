import { z } from 'zod';
import { fromJson, type Sql, statement } from './database.ts';

/** What the model wrote in one step besides its answer, shortened: for people who look for a cause, and nobody else. */
export interface StepAside {
  /** Of the journal. */
  readonly step: number;
  readonly reasoning: string;
  /** Of all its reasoning. */
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

/** Of the steps of a turn that have one, in their order. */
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
