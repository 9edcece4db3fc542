import { argumentLine, type ToolCallOfTurn } from '@parley/core';
import { z } from 'zod';
import { fromJson, type Sql, statement, toJson } from '../database.ts';

/** As much of a step of the journal as a list of calls needs. */
const Step = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('model'),
    calls: z.array(z.object({ name: z.string(), arguments: z.string() })),
  }),
  z.object({ kind: z.literal('result'), call: z.string(), failed: z.boolean() }),
]);

/** The tools that turns have called and that have ended, in their order. */
export async function readToolCalls(
  sql: Sql,
  turnIds: readonly string[],
): Promise<readonly ToolCallOfTurn[]> {
  const rows = turnIds.length === 0 ? [] : await sql.all(STEPS, { turns: toJson(turnIds) });
  const asked = new Map<string, { readonly tool: string; readonly about: string }>();
  const ended: ToolCallOfTurn[] = [];
  for (const { turnId, index, content, startedAt, at } of rows) {
    const step = Step.safeParse(fromJson(content)).data;
    if (step?.kind === 'model') {
      for (const [nth, { name, arguments: json }] of step.calls.entries()) {
        asked.set(`${turnId}.${index}.${nth}`, { tool: name, about: argumentLine(json) });
      }
    }
    const call = step?.kind === 'result' ? asked.get(step.call) : undefined;
    if (step?.kind !== 'result' || call === undefined) continue;
    const state = step.failed ? 'failed' : 'done';
    ended.push({ ...call, turnId, callId: step.call, state, ms: at - (startedAt ?? at) });
  }
  return ended;
}

// Only turns that called tools have more than one step.
const STEPS = statement(`
  select turn_id as "turnId", step_index as "index", content, started_at as "startedAt",
    created_at as at
  from turn_step where turn_id in (select value from json_each(:turns))
  order by turn_id, step_index`).rows<{
  readonly turnId: string;
  readonly index: number;
  readonly content: string;
  readonly startedAt: number | null;
  readonly at: number;
}>();
