import { ParleyError, RoleNeededError } from '@parley/core';
import type { Context, Hono } from 'hono';
import { findOperation, GROUPS, type OperationServices, performOperation } from '../operations.ts';
import type { AppEnv } from './access.ts';
import { getSenderName } from './api-routes.ts';

const OPERATION_PATH = `/api/:group{${Object.keys(GROUPS).join('|')}}/:name`;

const STATUS: Readonly<Record<string, 403 | 404>> = {
  'no-agent': 404,
  'no-operation': 404,
  'role-needed': 403,
};

/**
 * Adds the single route for all operations. The input is a JSON body. A read also accepts GET, with
 * its input in the query. The query parameter `agent` names an agent (F14). Each operation declares
 * the role it requires.
 */
export function addOperationRoute(app: Hono<AppEnv>, services: OperationServices): void {
  app.on(['GET', 'POST'], OPERATION_PATH, async (c) => {
    const { agent, ...query } = c.req.query();
    c.header('cache-control', 'no-store');
    try {
      const isRead = c.req.method !== 'POST';
      const input = isRead ? query : await readJsonBody(c);
      const asked = c.req.path.slice('/api/'.length);
      if (isRead && (await findOperation(asked))?.does === 'change') {
        return c.json({ error: `${asked} changes something, so use POST.` }, 405, {
          allow: 'POST',
        });
      }
      const { role, signIn, session } = c.get('caller');
      const origin = c.req.header('origin');
      const known = { person: signIn?.name, session: session?.id, origin };
      const caller = { name: getSenderName(c), role, ...known };
      return c.json(await performOperation(services, asked, input, { caller, agent }));
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      const { message, code } = error;
      const needed = error instanceof RoleNeededError && { role: error.role };
      return c.json({ error: message, code, ...needed }, STATUS[code] ?? 400);
    }
  });
}

/** Returns undefined if the body is not JSON, which no operation accepts. */
function readJsonBody(c: Context): Promise<unknown> {
  return c.req.json().catch(() => undefined);
}
