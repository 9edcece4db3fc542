import { defineChangeOperation, defineReadOperation } from '@parley/core';
import { z } from 'zod';
import type { Heartbeat } from './heartbeat.ts';

interface HeartbeatOperationDeps {
  /**
   * Returns the heartbeat of the agent with that name; without a name, that of the default agent.
   */
  heartbeat(
    agent: string | undefined,
  ): Promise<Pick<Heartbeat, 'report' | 'request' | 'isRunning'>>;
}

export const operations = {
  report: defineReadOperation(
    'The tasks in HEARTBEAT.md with their last and next runs',
    {},
    async (needs: HeartbeatOperationDeps, _, { agent }) => {
      const heartbeat = await needs.heartbeat(agent);
      return { running: heartbeat.isRunning, ...(await heartbeat.report()) };
    },
  ),
  now: defineChangeOperation(
    'Run the named or the due task now; two calls with the same id run it once',
    { id: z.string().min(1).max(100), task: z.string().max(200).optional() },
    async ({ heartbeat }: HeartbeatOperationDeps, { id, task }, { agent }) =>
      (await heartbeat(agent)).request(id, task),
    { running: true },
  ),
};
