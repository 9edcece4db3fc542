import { createRefusalError, defineChangeOperation, defineReadOperation } from '@parley/core';
import { z } from 'zod';
import type { Hooks } from './hooks.ts';

interface HookOperationDeps {
  readonly defaultAgent: string;
  /** The hooks of all agents (H09). */
  hooks(): Promise<Hooks>;
}

export const operations = {
  list: defineReadOperation(
    'Hooks of all agents, or of one, with their last events and without their tokens',
    {},
    async (needs: HookOperationDeps, _, { agent }) => {
      const all = await (await needs.hooks()).list();
      const isTheirs = (hook: (typeof all)[number]) => (hook.agent ?? needs.defaultAgent) === agent;
      return { hooks: agent === undefined ? all : all.filter(isTheirs) };
    },
  ),
  test: defineChangeOperation(
    'Send an event to a hook without its token',
    { name: z.string(), body: z.string().max(1_000_000) },
    async ({ hooks }: HookOperationDeps, { name, body }) => {
      const { rules, take, count } = await hooks();
      if (!Object.hasOwn(rules, name))
        throw createRefusalError('no-hook', 'There is no hook with that name.');
      const taken = await take(name, { contentType: '', body });
      count('test', name);
      if (taken.kind !== 'taken')
        throw createRefusalError('event-refused', `Not taken: ${taken.reason}.`);
      return { id: taken.id, text: 'The event was accepted. Its outcome will appear here.' };
    },
    { running: true },
  ),
};
