import type { PluginHost, TurnHook } from '@parley/plugins';

/** Tells the model the lucky number of the day, and logs the outcome of each turn. */
export function luckyNumber(sides: number, log: PluginHost['log']): TurnHook {
  return {
    id: 'lucky-number',
    async before({ facts }) {
      const number = (Number(facts.date.replaceAll('-', '')) % sides) + 1;
      const text = `The lucky number of today is ${number}.`;
      const audience = { kind: 'everyone' } as const;
      return { userContext: [{ text, source: 'games-table', audience }] };
    },
    async after({ facts, outcome }) {
      log.info({ message: facts.messageId, outcome }, 'a turn at the games table');
    },
  };
}
