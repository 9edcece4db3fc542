import { formatArguments } from '@parley/core';
import { StepInfo } from '@parley/core/timeline';
import { z } from 'zod';
import { decodeJson, defineStatement, encodeJson, type Sql } from './database.ts';

/** A tool call that changed something, or may have. */
export interface DoneEffect {
  readonly tool: string;
  /** The beginning of its arguments, in one line; private like the conversation. */
  readonly about: string;
  /** `unknown`: the call was started, and its turn ended before its result was known. */
  readonly state: 'done' | 'failed' | 'unknown';
}

const ModelStep = z.object({
  calls: z.array(z.object({ name: z.string(), arguments: z.string() })),
});
const StartedStep = z.object({ kind: z.literal('started'), call: z.string() });

/**
 * Lists what these turns and the sub-agents that they started did with tools that change something,
 * in order. Calls from before effects were recorded are all listed.
 */
export async function listEffects(
  sql: Sql,
  turnIds: readonly string[],
): Promise<readonly DoneEffect[]> {
  if (turnIds.length === 0) return [];
  const effects = new Map<string, DoneEffect>();
  const calls = new Map<string, Pick<DoneEffect, 'tool' | 'about'>>();
  for (const { turnId, index, content, facts } of await sql.all(STEPS, {
    turns: encodeJson(turnIds),
  })) {
    const step = content === null ? null : decodeJson(content);
    for (const [nth, call] of (ModelStep.safeParse(step).data?.calls ?? []).entries()) {
      const about = formatArguments(call.arguments);
      calls.set(`${turnId}.${index}.${nth}`, { tool: call.name, about });
    }
    const started = StartedStep.safeParse(step).data?.call;
    const begun = started === undefined ? undefined : calls.get(started);
    if (started !== undefined && begun !== undefined) {
      effects.set(started, { ...begun, state: 'unknown' });
    }
    const ended = StepInfo.safeParse(facts === null ? null : decodeJson(facts)).data;
    if (ended?.kind !== 'tool' || ended.call === undefined) continue;
    const { tool, call, outcome, effect } = ended;
    if (outcome === 'not-run' || effect === 'read') effects.delete(call);
    else effects.set(call, { tool, about: calls.get(call)?.about ?? '', state: outcome });
  }
  return [...effects.values()];
}

// Answers and results are not read, because they can be long. The `_` matches a colon, which cannot
// be written here because it would start a parameter.
const STEPS = defineStatement(`
  with recursive done (id) as (
    select value from json_each(:turns)
    union
    select inbox.turn_id from done join sub_agent on sub_agent.parent_turn = done.id
      join inbox on inbox.conversation_id = sub_agent.conversation_id
    where inbox.turn_id is not null)
  select turn_id as "turnId", step_index as "index", facts,
    case when content like '{"kind"_"model"%' or content like '{"kind"_"started"%'
      then content end as content
  from turn_step where turn_id in (select id from done)
  order by created_at, turn_id, step_index`).rows<{
  readonly turnId: string;
  readonly index: number;
  readonly content: string | null;
  readonly facts: string | null;
}>();
