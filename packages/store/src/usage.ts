import { setImmediate as pause } from 'node:timers/promises';
import { getConversationAgent, removeAgentPrefix } from '@parley/core';
import { z } from 'zod';
import { HEARTBEAT_LANE, HOOK_AGENT, isLane, SUB_AGENT_LANE } from './conversations.ts';
import {
  type Database,
  defineStatement,
  encodeJson,
  type Sql,
  type SqlValue,
  type Statement,
} from './database.ts';
import {
  addToTally,
  type CalendarDay,
  compareByUsage,
  createTally,
  type DayRange,
  listCalendarDays,
  mergeIntoTally,
  type SumsWithLatency,
  toFigures,
  type UsageFigures,
  type UsageTally,
} from './usage-tally.ts';

/** The properties by which usage can be grouped. */
export const UsageGrouping = z.enum(['day', 'person', 'chat', 'model', 'channel', 'agent']);
export type UsageGrouping = z.infer<typeof UsageGrouping>;

/** A usage query: the number of days, the last day, and the time zone. */
export interface UsageQuery extends DayRange {
  readonly by: UsageGrouping;
  /** The name of this database's agent. */
  readonly agent: string;
  /**
   * The number of turns after which no more days are read; 500,000 by default, which takes a few
   * seconds.
   */
  readonly mostTurns?: number;
}

export interface UsageDay extends UsageFigures {
  readonly day: string;
}

export interface UsageHour extends UsageFigures {
  /** The start of the period, in ms. */
  readonly from: number;
}

export interface UsageRow extends UsageFigures {
  /** The id of the group, or the model name; empty if unknown or absent. */
  readonly name: string;
  /** The title of the group, as written by people. */
  readonly title: string | null;
}

export interface UsageSums {
  readonly total: UsageFigures;
  /** The days that were read, oldest first, including those without turns. */
  readonly days: readonly UsageDay[];
  /** The groups with the largest usage, at most 50; empty when grouped by day. */
  readonly rows: readonly UsageRow[];
  /** The sum of all groups that are not listed. */
  readonly other: (UsageFigures & { readonly groups: number }) | null;
  /**
   * The usage outside turns, for summaries and SOUL.md evaluations; it is included in the total.
   */
  readonly outside: UsageFigures | null;
  /** False if the oldest days in the range were not read because there are too many turns. */
  readonly isWhole: boolean;
}

/**
 * The highest token count and the highest cost in dollars, possibly from different people or
 * groups.
 */
interface HighestSpend {
  readonly tokens: number;
  readonly costUsd: number;
}

/**
 * Sums up turns and their usage (U07). The queries are loaded on first use and are not needed to
 * process messages.
 */
export interface UsageRepository {
  /** Sums up the usage in a range of days; throws RangeError for an invalid day or time zone. */
  sums(query: UsageQuery): Promise<UsageSums>;
  /** Sums up the usage of each of the last `hours` before a time in ms, oldest first. */
  hours(until: number, hours: number): Promise<readonly UsageHour[]>;
  /** Finds a day's highest usage by one person, and in one group. */
  highest(day: string): Promise<Readonly<Record<'person' | 'group', HighestSpend>>>;
}

/** The maximum number of groups listed separately. */
const MAX_ROWS = 50;

const MAX_TURNS = 500_000;
/**
 * The approximate number of turns read at once; it is limited because messages wait meanwhile on
 * SQLite.
 */
const TURNS_AT_ONCE = 1_000;
const HOUR_MS = 60 * 60_000;

/** Sums up the days in a range, newest first, in steps between which messages are processed. */
export async function readUsageSums(database: Database, query: UsageQuery): Promise<UsageSums> {
  const tallies: UsageTallies = { total: createTally(), days: [], groups: new Map() };
  const left = [...listCalendarDays(query)];
  let step = HOUR_MS;
  while (tallies.total.sums.turns < (query.mostTurns ?? MAX_TURNS)) {
    const day = left.pop();
    if (day === undefined) break;
    const tally = createTally();
    for (let from = day.from; from < day.to; ) {
      const to = Math.min(from + step, day.to);
      const turns = await database.read((sql) =>
        tallyTurns(sql, { from, to }, query, tally, tallies),
      );
      if (turns > TURNS_AT_ONCE) step = Math.max(60_000, step / 2);
      else if (turns < TURNS_AT_ONCE / 4) step = Math.min(24 * HOUR_MS, step * 2);
      from = to;
      await pause();
    }
    await database.read((sql) => readUsageOutsideTurns(sql, day, tally, tallies));
    tallies.days.unshift({ day: day.day, tally });
    mergeIntoTally(tallies.total, tally);
  }
  const isWhole = left.length === 0;
  return { ...(await database.read((sql) => toUsageSums(sql, tallies, query.by))), isWhole };
}

/** Sums up the usage of the last hours before a given time, oldest first. */
export async function readUsageHours(
  database: Database,
  until: number,
  hours: number,
): ReturnType<UsageRepository['hours']> {
  const found: UsageHour[] = [];
  for (let ago = hours; ago > 0; ago -= 1) {
    const from = until - ago * HOUR_MS;
    const part = { from, to: from + HOUR_MS };
    const rows = await database.read((sql) => sql.all(TURNS.day, part));
    const tally = createTally();
    for (const row of rows) addToTally(tally, row);
    found.push({ from, ...toFigures(tally) });
  }
  return found;
}

export async function readHighestSpend(
  database: Database,
  day: string,
): ReturnType<UsageRepository['highest']> {
  const rows = await database.read((sql) => sql.all(HIGHEST, { day }));
  const of = (kind: string): HighestSpend => {
    const { tokens, costUsd } = rows.find((row) => row.kind === kind) ?? {};
    return { tokens: tokens ?? 0, costUsd: costUsd ?? 0 };
  };
  return { person: of('person'), group: of('group') };
}

const OF_EACH = 'sum(input_tokens + output_tokens) as tokens, sum(cost_usd) as cost';

const HIGHEST = defineStatement(`
  select 'person' as kind, max(tokens) as tokens, max(cost) as "costUsd"
  from (select ${OF_EACH} from spend where day = :day and person_id <> '' group by person_id) as each_one
  union all select 'group', max(tokens), max(cost)
  from (select ${OF_EACH} from spend where day = :day and group_id <> '' group by group_id) as each_one`).rows<
  { readonly kind: string } & { readonly [Key in keyof HighestSpend]: number | null }
>();

/** Running totals while days are being read. */
interface UsageTallies {
  readonly total: UsageTally;
  readonly days: { readonly day: string; readonly tally: UsageTally }[];
  readonly groups: Map<string, UsageTally>;
  outside?: UsageTally;
}

/** Adds the turns that ended within part of a day, and returns how many there were. */
async function tallyTurns(
  sql: Sql,
  part: Pick<CalendarDay, 'from' | 'to'>,
  { by, agent }: UsageQuery,
  tally: UsageTally,
  tallies: UsageTallies,
): Promise<number> {
  const before = tally.sums.turns;
  for (const { name, ...row } of await sql.all(TURNS[by], part)) {
    addToTally(tally, row);
    if (by === 'day') continue;
    const key = getUsageGroupName(name, by, agent);
    const group = tallies.groups.get(key) ?? createTally();
    tallies.groups.set(key, group);
    addToTally(group, row);
  }
  return tally.sums.turns - before;
}

async function readUsageOutsideTurns(
  sql: Sql,
  { day }: CalendarDay,
  tally: UsageTally,
  tallies: UsageTallies,
): Promise<void> {
  const outside = await sql.get(OUTSIDE, { day });
  if (outside !== undefined && outside.inputTokens + outside.outputTokens > 0) {
    const used = { ...NO_TURNS, ...outside };
    addToTally(tally, used);
    tallies.outside ??= createTally();
    addToTally(tallies.outside, used);
  }
}

/** Labels for work that a person did not directly request. */
const UNSEEN = new Map([
  [SUB_AGENT_LANE, 'sub-agents'],
  [`${HEARTBEAT_LANE}${HOOK_AGENT}`, 'hooks'],
  [HEARTBEAT_LANE, 'heartbeat'],
]);

function getUsageGroupName(name: string | null, by: UsageGrouping, agent: string): string {
  if (name === null) return '';
  if (by === 'person' || by === 'model') return name;
  const named = getConversationAgent(name);
  if (by === 'agent' && named !== undefined) return named;
  for (const [lane, unseen] of UNSEEN) if (isLane(name, lane)) return unseen;
  if (by === 'agent') return agent;
  return by === 'channel' ? decodeURIComponent(removeAgentPrefix(name).split(':')[0] ?? '') : name;
}

interface SummedRow extends SumsWithLatency {
  readonly name: string | null;
}

/** A sub-agent's usage belongs to the chat whose turn started it. */
const CHAT = `coalesce((select root_conversation from sub_agent
        where sub_agent.conversation_id = turn.conversation_id), turn.conversation_id)`;

/** Computes the overlap of two time spans, each given by its start and end. */
function computeOverlap(one: readonly [string, string], other: readonly [string, string]): string {
  const later = `case when ${one[0]} > ${other[0]} then ${one[0]} else ${other[0]} end`;
  const earlier = `case when ${one[1]} < ${other[1]} then ${one[1]} else ${other[1]} end`;
  return `case when ${one[1]} > ${other[0]} and ${other[1]} > ${one[0]} then (${earlier}) - (${later}) else 0 end`;
}

const OF_TURN = ['turn.asked_at', 'turn.finished_at'] as const;
const OF_QUESTION = ['approval.asked_at', 'decided_at'] as const;
const OF_TAKEOVER = ['taken_at', 'coalesce(takeover.ended_at, takeover.until)'] as const;
const sumOf = (time: string, where: string) =>
  `coalesce((select cast(sum(${time}) as bigint) from ${where}), 0)`;
const QUESTIONS = 'approval.turn_id = turn.id and decided_at > approval.asked_at';
const TAKEOVERS = 'takeover.conversation_id = turn.conversation_id';

/**
 * How long the turns' answers waited for people: for an approval, for an answer to a question, or
 * during a takeover. The wait for a question that was decided during a takeover is counted only
 * once.
 */
const WAITED = `(${sumOf('decided_at - approval.asked_at', `approval where ${QUESTIONS}`)}
          + ${sumOf(computeOverlap(OF_TURN, OF_TAKEOVER), `takeover where ${TAKEOVERS}`)}
          - ${sumOf(computeOverlap(OF_QUESTION, OF_TAKEOVER), `approval, takeover where ${QUESTIONS} and ${TAKEOVERS}`)})`;

// Latencies are rounded to two digits, so that even a day with many turns has only a few distinct
// values.
const turnsBy = (name: string): Statement<{ from: SqlValue; to: SqlValue }, SummedRow> =>
  defineStatement(`
  select name, latency, max(id) as newest, count(*) as turns,
    sum(case state when 'failed' then 1 else 0 end) as failed,
    coalesce(sum(input_tokens), 0) as "inputTokens",
    coalesce(sum(cached_tokens), 0) as "cachedTokens",
    coalesce(sum(output_tokens), 0) as "outputTokens", coalesce(sum(cost_usd), 0) as "costUsd",
    sum(case when model is not null and cost_usd is null then 1 else 0 end) as unpriced
  from (
    select name, id, state, input_tokens, cached_tokens, output_tokens, cost_usd, model,
      case when took is null then -1
        when took < 0 then 0
        when took < 1000 then (took + 5) / 10 * 10
        when took < 10000 then (took + 50) / 100 * 100
        when took < 100000 then (took + 500) / 1000 * 1000
        when took < 1000000 then (took + 5000) / 10000 * 10000
        else (took + 50000) / 100000 * 100000 end as latency
    from (
      select ${name} as name, id, state, input_tokens, cached_tokens, output_tokens, cost_usd, model,
        case when state = 'answered' then finished_at - turn.asked_at - ${WAITED} end as took
      from turn
      where finished_at >= :from and finished_at < :to and written_by is null) as timed) as ended
  group by name, latency`).rows<SummedRow>();

const TURNS: Readonly<Record<UsageGrouping, ReturnType<typeof turnsBy>>> = {
  day: turnsBy('cast(null as text)'),
  person: turnsBy('person_id'),
  chat: turnsBy(CHAT),
  model: turnsBy('model'),
  channel: turnsBy(CHAT),
  agent: turnsBy('conversation_id'),
};

const OUTSIDE = defineStatement(`
  select coalesce(sum(input_tokens), 0) as "inputTokens",
    coalesce(sum(output_tokens), 0) as "outputTokens", coalesce(sum(cost_usd), 0) as "costUsd"
  from spend where day = :day and person_id = ''`).rows<
  Pick<SumsWithLatency, 'inputTokens' | 'outputTokens' | 'costUsd'>
>();

const NO_TURNS = { turns: 0, failed: 0, cachedTokens: 0, unpriced: 0, latency: -1, newest: '' };

async function toUsageSums(
  sql: Sql,
  { total, days, groups, outside }: UsageTallies,
  by: UsageGrouping,
): Promise<Omit<UsageSums, 'isWhole'>> {
  const sorted = [...groups].sort(([, one], [, other]) => compareByUsage(one, other));
  const [shown, rest] = [sorted.slice(0, MAX_ROWS), sorted.slice(MAX_ROWS)];
  const titles = await readGroupTitles(sql, shown, by);
  const other = createTally();
  for (const [, tally] of rest) mergeIntoTally(other, tally);
  return {
    total: toFigures(total),
    days: days.map(({ day, tally }) => ({ day, ...toFigures(tally) })),
    rows: shown.map(([name, tally]) => {
      return { name, title: titles.get(tally.newest) ?? null, ...toFigures(tally) };
    }),
    other: rest.length === 0 ? null : { groups: rest.length, ...toFigures(other) },
    outside: outside === undefined ? null : toFigures(outside),
  };
}

const Written = z.object({
  sender: z.object({ name: z.string() }),
  chat: z.object({ type: z.string(), title: z.string().optional() }),
});

const MESSAGES = defineStatement(`
  select turn_id as turn, message from inbox
  where turn_id in (select value from json_each(:turns)) order by seq`).rows<{
  readonly turn: string;
  readonly message: string;
}>();

/** Finds the names of people and chats, each from the newest turn, by turn id. */
async function readGroupTitles(
  sql: Sql,
  groups: readonly (readonly [string, UsageTally])[],
  by: UsageGrouping,
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  if ((by !== 'person' && by !== 'chat') || groups.length === 0) return titles;
  const turns = encodeJson(groups.map(([, { newest }]) => newest));
  for (const { turn, message } of await sql.all(MESSAGES, { turns })) {
    const { data } = Written.safeParse(JSON.parse(message));
    if (data === undefined) continue;
    const { sender, chat } = data;
    const title = by === 'person' || chat.type === 'direct' ? sender.name : chat.title;
    if (title !== undefined && title !== '') titles.set(turn, title);
  }
  return titles;
}
