import type { Situation } from '@parley/channels';
import type { Clock, LiveBus, Logger } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry';
import type { WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type { Hono } from 'hono';
import type { AppEnv } from './access.ts';
import { conversationRoutes, searchRoutes } from './conversation-routes.ts';

/** What the routes look at that work on the database. */
export interface Work {
  readonly store: Store;
  readonly turns: Pick<WakeUpQueue, 'kick'>;
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
  readonly scrub: Scrub;
  /** Which models there are. */
  readonly situation: (agent: string | undefined) => Situation;
  /** The name of the default agent in the settings. */
  readonly defaultAgent: string;
}

/** Routes on the database. They show private text: guard them. */
export function addWorkRoutes(app: Hono<AppEnv>, work: Work): void {
  app.route('/api/conversations', conversationRoutes(work));
  app.route('/api/search', searchRoutes(work));
}
