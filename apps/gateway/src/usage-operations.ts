import { type Clock, defineReadOperation, RoleNeededError } from '@parley/core';
import type { Store, UsageGrouping, UsageTotals } from '@parley/store';
import { z } from 'zod';

/** A daily usage limit in the settings (G17). */
interface UsageCap {
  readonly name: 'totalDaily' | 'perPersonDaily' | 'perGroupDaily' | 'perStrangerDaily';
  readonly tokens?: number | undefined;
  readonly usd?: number | undefined;
}

/** The settings that determine how usage is shown. */
export interface UsageDisplaySettings {
  /** The time zone of the default agent, which determines the days for caps. */
  readonly timeZone: string;
  /** Returns the date in this time zone at a given time (ms), such as `2026-11-21`. */
  readonly dayAt: (now: number) => string;
  readonly caps: readonly UsageCap[];
}

interface UsageOperationDeps {
  readonly store: Pick<Store, 'usage' | 'spend'>;
  readonly clock: Clock;
  readonly defaultAgent: string;
  usage(): Promise<UsageDisplaySettings>;
}

const GROUPINGS = ['day', 'person', 'chat', 'model', 'channel', 'agent'] as const;
/** Groupings that name a person or a chat in each row are for owners only. */
const NAMING: ReadonlySet<UsageGrouping> = new Set(['person', 'chat']);
/** The number of days for which `spend` is stored by default. */
const MAX_DAYS = 400;
const DAYS = `it must be a number from 1 to ${MAX_DAYS}.`;

const HOURS = 12;

export const operations = {
  hours: defineReadOperation(
    'Count answers and latency for each of the last 12 hours',
    {},
    async ({ store, clock }: UsageOperationDeps) => store.usage.hours(clock(), HOURS),
    { role: 'viewer' },
  ),
  report: defineReadOperation(
    'Show tokens, cost, turns and latency (U07); only owners see people and chats',
    {
      by: z.enum(GROUPINGS).default('day'),
      days: z.coerce
        .number<number | string>(DAYS)
        .int(DAYS)
        .min(1, DAYS)
        .max(MAX_DAYS, DAYS)
        .default(30),
      /** The last day of the report; defaults to today. */
      until: z.iso.date().optional(),
    },
    async ({ store, clock, ...needs }: UsageOperationDeps, { by, days, until }, { caller }) => {
      const isOwner = caller.role === 'owner';
      if (NAMING.has(by) && !isOwner) throw new RoleNeededError('owner', caller);
      const { timeZone, dayAt, caps } = await needs.usage();
      const today = dayAt(clock());
      const lastDay = until ?? today;
      const of = (day: string) => ({ lastDay: day, timeZone, agent: needs.defaultAgent });
      const [sums, { tokens, costUsd }, highest] = await Promise.all([
        store.usage.sums({ ...of(lastDay), by, days }),
        store.spend.day(today),
        store.usage.highest(today),
      ]);
      const ofToday =
        lastDay === today
          ? sums.days.at(-1)
          : (await store.usage.sums({ ...of(today), by: 'day', days: 1 })).days.at(-1);
      const used = {
        totalDaily: { tokens, costUsd },
        perPersonDaily: highest.person,
        perGroupDaily: highest.group,
        perStrangerDaily: null,
      } satisfies Record<UsageCap['name'], UsageTotals | null>;
      return {
        ...{ by, until: lastDay, timeZone },
        /** The groupings that the caller may request. */
        groupings: GROUPINGS.filter((one) => isOwner || !NAMING.has(one)),
        ...sums,
        /** `unpriced` is the number of turns whose price is unknown. */
        today: { day: today, tokens, costUsd, unpriced: ofToday?.unpriced ?? 0 },
        /**
         * `used` is today's usage by everyone, or the highest usage of one person or group; null if
         * unknown.
         */
        caps: caps.map((cap) => ({ ...cap, used: used[cap.name] as UsageTotals | null })),
      };
    },
    { role: 'viewer' },
  ),
};
