import { describe, expect, it } from 'vitest';
import { endRoutes } from './api-routes.ts';

describe('the request to end', () => {
  it('is answered before anything ends', async () => {
    let isEnding = false;
    const app = endRoutes(() => {
      isEnding = true;
    });
    const { status } = await app.request('/', { method: 'POST' });
    expect([status, isEnding]).toEqual([202, true]);
    expect((await app.request('/')).status).toBe(404);
  });
});
