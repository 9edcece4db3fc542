import { formatArguments, type ToolCallOfTurn } from '@parley/core';
import { StepInfo } from '@parley/core/timeline';
import { z } from 'zod';
import { decodeJson, defineStatement, encodeJson, type Sql } from '../database.ts';

/** The fields of a model step that are needed to list tool calls. */
const ModelStep = z.object({ calls: z.array(z.object({ arguments: z.string() })) });

/** Lists the finished tool calls of the given turns, in order. */
export async function readToolCalls(
  sql: Sql,
  turnIds: readonly string[],
): Promise<readonly ToolCallOfTurn[]> {
  const rows = turnIds.length === 0 ? [] : await sql.all(STEPS, { turns: encodeJson(turnIds) });
  const about = new Map<string, string>();
  const ended: ToolCallOfTurn[] = [];
  for (const { turnId, index, content, startedAt, facts: json, at } of rows) {
    const facts = StepInfo.safeParse(decodeJson(json)).data;
    if (facts?.kind === 'model') {
      const { calls = [] } = ModelStep.safeParse(decodeJson(content ?? 'null')).data ?? {};
      for (const [nth, call] of calls.entries()) {
        about.set(`${turnId}.${index}.${nth}`, formatArguments(call.arguments));
      }
    }
    if (facts?.kind !== 'tool' || facts.call === undefined) continue;
    const { tool, call: callId, outcome } = facts;
    const state = outcome === 'done' ? 'done' : 'failed';
    const call = { turnId, callId, tool, about: about.get(callId) ?? '', state } as const;
    ended.push({ ...call, ms: at - (startedAt ?? at) });
  }
  return ended;
}

// Tool results are not read, because they can be megabytes and a history is read often. The `_`
// matches a colon, which cannot be written here because it would start a parameter.
const STEPS = defineStatement(`
  select turn_id as "turnId", step_index as "index", started_at as "startedAt", facts,
    created_at as at, case when facts like '{"kind"_"tool"%' then null else content end as content
  from turn_step where facts is not null and turn_id in (select value from json_each(:turns))
  order by turn_id, step_index`).rows<{
  readonly turnId: string;
  readonly index: number;
  readonly content: string | null;
  readonly startedAt: number | null;
  readonly facts: string;
  readonly at: number;
}>();
