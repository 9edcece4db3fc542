import type { TurnUsage } from './rows.ts';

/** What was used of models. Tokens in and out together; US dollars as far as prices are known. */
export interface Spent {
  readonly tokens: number;
  readonly costUsd: number;
}

/** On whose account a turn is: a day of the agent's calendar, who asked, and in which group. */
export interface SpendAccount {
  /** Such as `2026-11-21`, in the agent's time zone. */
  readonly day: string;
  /** `channel:userId`; empty where nobody asked. */
  readonly personId: string;
  /** `channel:account:chatId`; null in direct chats. */
  readonly groupId: string | null;
}

/** What was spent on a day by one person, in one group, and by all. */
export interface SpentOfDay {
  readonly person: Spent;
  /** Zero for turns in direct chats. */
  readonly group: Spent;
  readonly total: Spent;
}

/** Tokens and money per person, group and day (G17). Steps and commits of turns write it, too. */
export interface SpendRepository {
  /** What counts against the caps of a turn on this account. */
  of(account: SpendAccount): Promise<SpentOfDay>;
  /** Its first part alone, found by its key. */
  ofPerson(account: Pick<SpendAccount, 'day' | 'personId'>): Promise<Spent>;
  /** Counts what no step of a turn has used, or none that could be stored. */
  add(
    account: SpendAccount,
    usage: Pick<TurnUsage, 'inputTokens' | 'outputTokens' | 'costUsd'>,
  ): Promise<void>;
  /** All of a day, and how many people and groups it was for. */
  day(day: string): Promise<Spent & { readonly people: number; readonly groups: number }>;
}
