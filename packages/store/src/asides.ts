import { z } from 'zod';
import { decodeJson, defineStatement, type Sql } from './database.ts';

/**
 * What the model wrote in one step besides its answer, truncated. It is shown only to people who
 * investigate how an answer came about.
 */
export interface StepAside {
  /** The step's number in the journal. */
  readonly step: number;
  readonly reasoning: string;
  /** The full length of its reasoning, in characters. */
  readonly reasoningCharacters: number;
  /** Calls that the model wrote as plain text and that were not run, with the reason. */
  readonly dropped: readonly { readonly raw: string; readonly problem: string }[];
}

const Content = z.object({
  aside: z.object({
    reasoning: z.string(),
    reasoningCharacters: z.number(),
    dropped: z.array(z.object({ raw: z.string(), problem: z.string() })),
  }),
});

/** The asides from a turn's steps, in order. */
export async function readAsides(sql: Sql, turnId: string): Promise<readonly StepAside[]> {
  const rows = await sql.all(STEPS, { turnId });
  return rows.flatMap(({ step, content }) => {
    const { data } = Content.safeParse(decodeJson(content));
    return data === undefined ? [] : [{ step, ...data.aside }];
  });
}

const STEPS = defineStatement(`
  select step_index as step, content from turn_step
  where turn_id = :turnId and content like '%"aside"%' order by step_index`).rows<{
  readonly step: number;
  readonly content: string;
}>();
