import type { Hono } from 'hono';
import { z } from 'zod';
import type { AccountName } from '../accounts/account-rights.ts';
import type { ChannelService } from '../channel-service.ts';
import { type AppEnv, mayAs } from './access.ts';
import { bodyOf, orRefused, senderOf, uncachedRoutes } from './api-routes.ts';

const GroupBody = z.object({ chatId: z.string().min(1).max(256) });

/**
 * The channels, below `/api/channels`. It names people and groups, and changes the settings: guard it. `askHolder`
 * passes a request on to the gateway that is connected as an account, where that is another one.
 */
export function channelRoutes(
  service: ChannelService,
  askHolder?: (name: AccountName, request: Request) => Promise<Response | null>,
): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.get('/', async (c) => {
    const report = await service.report();
    return c.json(mayAs(c, 'owner') ? report : withoutCodes(report));
  });
  app.post('/:channel/:account/pause', (c) =>
    orRefused(c, service.pause(c.req.param(), senderOf(c))),
  );
  app.post('/:channel/:account/resume', (c) => orRefused(c, service.resume(c.req.param())));
  app.post('/:channel/:account/reconnect', async (c) => {
    const name = c.req.param();
    return (await askHolder?.(name, c.req.raw)) ?? orRefused(c, service.reconnect(name));
  });
  app.post('/:channel/:account/test', (c) =>
    orRefused(c, service.test(c.req.param(), mayAs(c, 'owner'))),
  );
  app.post('/:channel/:account/groups', async (c) => {
    const body = await bodyOf(c, GroupBody);
    if (body === undefined) return c.json({ error: 'That needs the id of a group.' }, 400);
    return orRefused(c, service.allowGroup(c.req.param(), body.chatId));
  });
  return app;
}

/** A report of accounts without the codes that link a phone: who scans one decides which account answers here. */
export function withoutCodes(report: object): object {
  const shown = JSON.stringify(report, (_key, value) =>
    value?.kind === 'pairing' ? { ...value, code: '' } : value,
  );
  return JSON.parse(shown);
}
