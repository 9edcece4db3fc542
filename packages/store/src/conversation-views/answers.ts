import { z } from 'zod';
import { decodeJson, defineStatement, type Sql } from '../database.ts';

const Text = z.object({ text: z.string() });

/** Lists Markdown answers by turn id, for turns that are still in the history. */
export async function listAnswers(
  sql: Sql,
  turnIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  for (const turnId of turnIds) {
    const stored = await sql.get(ANSWER, { turnId });
    const text = stored && Text.safeParse(decodeJson(stored.content)).data?.text;
    if (text !== undefined) answers.set(turnId, text);
  }
  return answers;
}

const ANSWER = defineStatement(`
  select content from transcript where turn_id = :turnId and role = 'assistant'
  order by seq desc limit 1`).rows<{ readonly content: string }>();
