import { change, read } from '@parley/core';
import { z } from 'zod';
import type { Heartbeat } from './heartbeat.ts';

interface HeartbeatNeeds {
  /** Returns the heartbeat of the agent with that name, or of the default agent. */
  heartbeat(
    agent: string | undefined,
  ): Promise<Pick<Heartbeat, 'report' | 'request' | 'isRunning'>>;
}

export const operations = {
  report: read(
    'The tasks of HEARTBEAT.md: their last and next runs, and why not now',
    {},
    async (needs: HeartbeatNeeds, _, { agent }) => {
      const heartbeat = await needs.heartbeat(agent);
      return { running: heartbeat.isRunning, ...(await heartbeat.report()) };
    },
  ),
  now: change(
    'Run the named task now, or the one that is due; asked twice with one id it runs once',
    { id: z.string().min(1).max(100), task: z.string().max(200).optional() },
    async ({ heartbeat }: HeartbeatNeeds, { id, task }, { agent }) =>
      (await heartbeat(agent)).request(id, task),
    { running: true },
  ),
};
