import { z } from 'zod';
import { decodeJson, defineStatement, encodeJson, type Sql } from '../database.ts';

const Text = z.object({ text: z.string() });

/** Returns Markdown answers by turn id, for turns that are still in the history. */
export async function listAnswers(
  sql: Sql,
  turnIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  if (turnIds.length === 0) return answers;
  for (const { turnId, content } of await sql.all(ANSWERS, { turns: encodeJson(turnIds) })) {
    const text = Text.safeParse(decodeJson(content)).data?.text;
    if (text !== undefined) answers.set(turnId, text);
  }
  return answers;
}

const ANSWERS = defineStatement(`
  select turn_id as "turnId", content from transcript
  where seq in (select max(seq) from transcript
    where turn_id in (select value from json_each(:turns)) and role = 'assistant'
    group by turn_id)`).rows<{ readonly turnId: string; readonly content: string }>();
