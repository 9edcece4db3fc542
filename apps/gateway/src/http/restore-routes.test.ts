import { describe, expect, it } from 'vitest';
import { type RestoreWish, restoreRoutes } from './restore-routes.ts';

const ID = '0b0c7c3e-6d0f-4b7e-9a53-2f6d2e1c9a10';

describe('the wish to take over a restored state', () => {
  async function ask(body: string) {
    const wishes: RestoreWish[] = [];
    const app = restoreRoutes((wish) => wishes.push(wish));
    const { status } = await app.request('/', { method: 'POST', body });
    return { status, wishes };
  }

  it('is handed on and answered before anything ends', async () => {
    const wish = { id: ID, staging: 'restoring-aB3xY9' };
    expect(await ask(JSON.stringify(wish))).toEqual({ status: 202, wishes: [wish] });
  });

  it.each([
    ['no JSON', 'restore!'],
    ['another folder', JSON.stringify({ id: ID, staging: '../restoring-a' })],
    ['a path', JSON.stringify({ id: ID, staging: '/tmp/restoring-a' })],
    ['a name for its answer that is none', JSON.stringify({ id: '../x', staging: 'restoring-a' })],
  ])('is refused with %s', async (_what, body) => {
    expect(await ask(body)).toEqual({ status: 400, wishes: [] });
  });
});
