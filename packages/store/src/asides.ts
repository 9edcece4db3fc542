import { z } from 'zod';
import { decodeJson, defineStatement, type Sql } from './database.ts';

/**
 * Text, reasoning and calls that the model produced in one step besides its answer, truncated.
 * These details are shown only to people who investigate how an answer came about.
 */
export interface HiddenStepParts {
  /** The number of the step in the journal. */
  readonly step: number;
  readonly reasoning: string;
  /** The full length of the model's reasoning, in characters. */
  readonly reasoningCharacters: number;
  /** Tool calls that the model wrote as plain text and that were not run, with the reason. */
  readonly dropped: readonly { readonly raw: string; readonly problem: string }[];
}

const Content = z.object({
  aside: z.object({
    reasoning: z.string(),
    reasoningCharacters: z.number(),
    dropped: z.array(z.object({ raw: z.string(), problem: z.string() })),
  }),
});

/** Reads the asides of a turn's steps, in order. */
export async function readHiddenStepParts(
  sql: Sql,
  turnId: string,
): Promise<readonly HiddenStepParts[]> {
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
