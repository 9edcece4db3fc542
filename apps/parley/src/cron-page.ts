import type { GatewayOptions } from '@parley/gateway';
import type { OpenCron } from './open-cron.ts';

/** Jobs as the page shows them: whoever holds its token runs this installation. */
export function cronPage({ ask, views }: OpenCron): NonNullable<GatewayOptions['cron']> {
  return {
    list: async () => ({ jobs: await views() }),
    act: (id, action) => ask({ action, id }, { kind: 'operator' }),
  };
}
