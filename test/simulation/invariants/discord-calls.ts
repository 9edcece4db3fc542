import { SimulatedDiscord } from '../world/discord.ts';
import { AccountHolders } from './accounts.ts';
import type { MakeInvariant } from './invariant.ts';

const ACCOUNT = 'discord/default';

/**
 * Changes on Discord are requested only by the gateway that has the bot, never by an earlier holder
 * (D09, D14).
 */
export const oneGatewayCalls: MakeInvariant = () => {
  const holders = new AccountHolders();
  let seen = 0;
  return {
    id: 'D14',
    afterStep: (step, simulation) => {
      holders.note(step);
      const { brought } = simulation;
      if (holders.isEmpty || !(brought instanceof SimulatedDiscord)) return [];
      const calls = brought.calls.slice(seen);
      seen = brought.calls.length;
      return calls.flatMap(({ process, method, path, at }) => {
        const holder = holders.at(ACCOUNT, at, simulation.databaseTime(at));
        if (method === 'GET' || ['nobody', 'not known yet', process].includes(holder)) return [];
        return [`${process} asked Discord to ${method} ${path}, but the bot belonged to ${holder}`];
      });
    },
  };
};
