import { describe, expect, it } from 'vitest';
import { type RestoreRequest, restoreRoutes } from './api-routes.ts';

const ID = '0b0c7c3e-6d0f-4b7e-9a53-2f6d2e1c9a10';

describe('the request to take over a restored state', () => {
  async function post(body: string) {
    const requests: RestoreRequest[] = [];
    const app = restoreRoutes((request) => requests.push(request));
    const { status } = await app.request('/', { method: 'POST', body });
    return { status, requests };
  }

  it('is passed on and answered before anything ends', async () => {
    const request = { id: ID, staging: 'restoring-aB3xY9' };
    expect(await post(JSON.stringify(request))).toEqual({ status: 202, requests: [request] });
  });

  it.each([
    ['no JSON', 'restore!'],
    ['another folder', JSON.stringify({ id: ID, staging: '../restoring-a' })],
    ['a path', JSON.stringify({ id: ID, staging: '/tmp/restoring-a' })],
    ['a name for its answer that is none', JSON.stringify({ id: '../x', staging: 'restoring-a' })],
  ])('is refused with %s', async (_what, body) => {
    expect(await post(body)).toEqual({ status: 400, requests: [] });
  });
});
