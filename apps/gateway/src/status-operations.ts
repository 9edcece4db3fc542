import { read } from '@parley/core';
import { removeCodes } from './channel-operations.ts';
import type { GatewayStatus } from './http/api.ts';

interface StatusNeeds {
  status(): Promise<GatewayStatus>;
}

export const operations = {
  report: read(
    'Show the state of the gateway, its channels and its database; only owners see codes and settings',
    {},
    async ({ status }: StatusNeeds, _, { caller }): Promise<GatewayStatus> => {
      const report = await status();
      if (caller.role === 'owner') return report;
      // Problems in the settings may quote private values, so they are omitted.
      return { ...removeCodes(report), settings: { afterRestart: [], problems: [] } };
    },
    { role: 'viewer', running: true },
  ),
};
