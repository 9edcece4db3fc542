import { type Database, defineStatement, type Sql } from './database.ts';

/** The usage of a turn's model calls, for `/status` and spending. */
export interface TurnUsage {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The number of `inputTokens` that came from the provider's cache. */
  readonly cachedInputTokens?: number | undefined;
  /**
   * The fraction at which a cached token counts against caps (G17), according to its price; 1 when
   * absent.
   */
  readonly cachedShare?: number | undefined;
  /** The cost in US dollars; null if the model's price is unknown. */
  readonly costUsd: number | null;
}

/**
 * Model usage as it counts against caps: input and output tokens together, with cached tokens at
 * their share of the price, and the cost in US dollars if the price is known.
 */
export interface UsageTotals {
  readonly tokens: number;
  readonly costUsd: number;
}

/**
 * The account that a turn is charged to: a day in the agent's calendar, the person who asked, and
 * the group.
 */
export interface SpendAccount {
  /** The day in the agent's time zone, for example `2026-11-21`. */
  readonly day: string;
  /**
   * `channel:userId`; empty if a person did not request the work, such as the summary of a long
   * conversation.
   */
  readonly personId: string;
  /** `channel:account:chatId`; null in direct chats. */
  readonly groupId: string | null;
  /** The agent; absent for the default one (F14). */
  readonly agent?: string | undefined;
}

/**
 * One day's spending by one person, by one group, and in total, both for all agents and (in
 * `ofAgent`) for the account's agent.
 */
export interface DailySpend extends AgentSpend {
  readonly ofAgent: AgentSpend;
}

interface AgentSpend {
  readonly person: UsageTotals;
  /** The group's spending; zero for turns in direct chats. */
  readonly group: UsageTotals;
  readonly total: UsageTotals;
}

type ChargeableUsage = Pick<
  TurnUsage,
  'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'cachedShare' | 'costUsd'
>;

/**
 * Tokens and money per person, group and day (G17), stored in the `spend` table. Turn steps and
 * commits add to the table; the budget check before a turn and status read it.
 */
export function createSpendRepository(database: Database) {
  return {
    /** Reads the spending that counts against the caps for a turn on this account. */
    async of(account: SpendAccount): Promise<DailySpend> {
      const { day, personId, groupId, agent = DEFAULT_AGENT } = account;
      const values = { day, personId, groupId: groupId ?? NO_GROUP };
      const rows = await database.read((sql) => sql.all(OF_ACCOUNT, values));
      const own = rows.filter((row) => row.agent === agent);
      return { ...sumSpend(rows, account), ofAgent: sumSpend(own, account) };
    },

    /** Reads only the person's spending, by key. */
    async ofPerson({
      day,
      personId,
    }: Pick<SpendAccount, 'day' | 'personId'>): Promise<UsageTotals> {
      const row = await database.read((sql) => sql.get(OF_PERSON, { day, personId }));
      return { tokens: row?.tokens ?? 0, costUsd: row?.costUsd ?? 0 };
    },

    /** Adds usage outside a turn's steps, or usage that steps could not store. */
    async add(account: SpendAccount, usage: ChargeableUsage): Promise<void> {
      await database.change('process', ADD, toSpendParameters(account, usage));
    },

    /** Reads a day's total, with the number of people and groups. */
    async day(
      day: string,
    ): Promise<UsageTotals & { readonly people: number; readonly groups: number }> {
      const row = await database.read((sql) => sql.get(OF_DAY, { day }));
      const { tokens, costUsd, people, groups } = row ?? {};
      return {
        tokens: tokens ?? 0,
        costUsd: costUsd ?? 0,
        people: people ?? 0,
        groups: groups ?? 0,
      };
    },
  };
}

/** Adds usage, inside the caller's transaction. */
export function addSpend(sql: Sql, account: SpendAccount, usage: ChargeableUsage): void {
  sql.send(ADD, toSpendParameters(account, usage));
}

function sumSpend(rows: readonly AccountRow[], { groupId }: SpendAccount): AgentSpend {
  const sum = (key: Exclude<keyof AccountRow, 'agent'>) =>
    rows.reduce((total, row) => total + (row[key] ?? 0), 0);
  const group = { tokens: sum('groupTokens'), costUsd: sum('groupCost') };
  return {
    person: { tokens: sum('personTokens'), costUsd: sum('personCost') },
    group: groupId === null ? { tokens: 0, costUsd: 0 } : group,
    total: { tokens: sum('tokens'), costUsd: sum('costUsd') },
  };
}

/** The value of the `agent` column for the default agent. */
const DEFAULT_AGENT = '';

/** The value of the `group_id` column outside groups, because a key column must not be null. */
const NO_GROUP = '';

/**
 * Computes the input tokens that count against caps: uncached tokens in full, and cached tokens at
 * their share.
 */
export function countInputTokens({
  inputTokens,
  cachedInputTokens = 0,
  cachedShare = 1,
}: Omit<ChargeableUsage, 'outputTokens' | 'costUsd'>): number {
  const cached = Math.min(cachedInputTokens, inputTokens);
  return Math.ceil(inputTokens - cached * (1 - cachedShare));
}

function toSpendParameters(
  { day, personId, groupId, agent = DEFAULT_AGENT }: SpendAccount,
  usage: ChargeableUsage,
) {
  const { outputTokens: output, costUsd } = usage;
  const input = countInputTokens(usage);
  const cost = costUsd ?? 0;
  return { day, personId, groupId: groupId ?? NO_GROUP, agent, input, output, cost };
}

const ADD = defineStatement(`
  insert into spend (day, person_id, group_id, agent, input_tokens, output_tokens, cost_usd)
  values (:day, :personId, :groupId, :agent, :input, :output, :cost)
  on conflict (day, person_id, group_id, agent) do update set
    input_tokens = spend.input_tokens + excluded.input_tokens,
    output_tokens = spend.output_tokens + excluded.output_tokens,
    cost_usd = spend.cost_usd + excluded.cost_usd`);

interface SpendSums {
  readonly tokens: number | null;
  readonly costUsd: number | null;
}

const SUMS = 'sum(input_tokens + output_tokens) as tokens, sum(cost_usd) as "costUsd"';

const OF_PERSON = defineStatement(
  `select ${SUMS} from spend where day = :day and person_id = :personId`,
).rows<SpendSums>();

const OF_ACCOUNT = defineStatement(`
  select agent, ${SUMS},
    sum(case when person_id = :personId then input_tokens + output_tokens end) as "personTokens",
    sum(case when person_id = :personId then cost_usd end) as "personCost",
    sum(case when group_id = :groupId then input_tokens + output_tokens end) as "groupTokens",
    sum(case when group_id = :groupId then cost_usd end) as "groupCost"
  from spend where day = :day group by agent`).rows<AccountRow>();

interface AccountRow extends SpendSums {
  readonly agent: string;
  readonly personTokens: number | null;
  readonly personCost: number | null;
  readonly groupTokens: number | null;
  readonly groupCost: number | null;
}

const OF_DAY = defineStatement(`
  select ${SUMS}, count(distinct nullif(person_id, '')) as people,
    count(distinct nullif(group_id, '')) as groups
  from spend where day = :day`).rows<
  SpendSums & { readonly people: number; readonly groups: number }
>();
