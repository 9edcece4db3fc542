import { afterEach, describe, expect, it, vi } from 'vitest';
import { addAgentToPath } from './gateway.ts';
import { parseRoute, type Route, toHash, toHref } from './route.ts';

describe('the address of the current view', () => {
  it.each<[string, Route]>([
    ['', { view: 'chat', args: [] }],
    ['#/', { view: 'chat', args: [] }],
    ['#/queue', { view: 'queue', args: [] }],
    ['#/why/telegram%3A42%2F7', { view: 'why', args: ['telegram:42/7'] }],
    ['#/prompt/a/against/b', { view: 'prompt', args: ['a', 'against', 'b'] }],
    ['#/memory/boats?agent=support', { view: 'memory', args: ['boats'], agent: 'support' }],
    ['#/memory?agent=', { view: 'memory', args: [] }],
    ['#/chat/%40support%2Fmain', { view: 'chat', args: ['@support/main'], agent: 'support' }],
    ['#/chat/main?agent=support', { view: 'chat', args: ['main'] }],
    ['#/prompt/%E0%A4', { view: 'prompt', args: ['%E0%A4'] }],
  ])('[U03] parses the address %s', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
  });

  it('[U03] parses a view from the link created for it, whatever characters an id contains', () => {
    for (const id of ['turn_x', 'a/b', 'ä %20#?', '..', 'web/default:a/b'])
      expect(parseRoute(toHref('prompt', id, 'c/d'))).toEqual({
        view: 'prompt',
        args: [id, 'c/d'],
      });
    expect(parseRoute(toHref('chat'))).toEqual({ view: 'chat', args: [] });
  });
});

describe('the agent shown on the page', () => {
  afterEach(() => vi.unstubAllGlobals());
  const at = (hash: string) => vi.stubGlobal('location', { hash });

  it('[F14] keeps the agent in links, except links to chats, which name their own agent', () => {
    at('#/memory?agent=support');
    expect(toHref('files', 'a b.md')).toBe('#/files/a%20b.md?agent=support');
    expect(toHref('settings')).toBe('#/settings?agent=support');
    expect(toHref('chat')).toBe('#/');
    expect(toHref('chat', '@lab/main')).toBe('#/chat/%40lab%2Fmain');
    at('#/chat/%40lab%2Fmain');
    expect(toHref('memory')).toBe('#/memory?agent=lab');
    at('#/memory');
    expect(toHref('files', 'x')).toBe('#/files/x');
    expect(toHash({ view: 'files', args: [], agent: '' })).toBe('#/files');
  });

  it.each([
    ['/api/heartbeat/report', '/api/heartbeat/report?agent=support'],
    ['/api/heartbeat/now', '/api/heartbeat/now?agent=support'],
    ['/api/cron/add', '/api/cron/add?agent=support'],
    ['/api/memory/report?words=a', '/api/memory/report?words=a&agent=support'],
    ['/api/files/open?name=a', '/api/files/open?name=a&agent=support'],
    ['/api/soul/apply', '/api/soul/apply?agent=support'],
    ['/api/prompts/preview?channel=web', '/api/prompts/preview?channel=web&agent=support'],
    ['/api/approvals/files', '/api/approvals/files?agent=support'],
    ['/api/approvals/revoke-rule', '/api/approvals/revoke-rule?agent=support'],
    ['/api/replay/choices', '/api/replay/choices?agent=support'],
    ['/api/files/open?name=a&agent=desk', '/api/files/open?name=a&agent=desk'],
    ['/api/replay/turn', '/api/replay/turn'],
    ['/api/approvals/waiting', '/api/approvals/waiting'],
    ['/api/prompts/list', '/api/prompts/list'],
    ['/api/usage/report?by=day', '/api/usage/report?by=day'],
    ['/api/settings/show', '/api/settings/show'],
    ['/api/crony', '/api/crony'],
    ['/api/conversations/list', '/api/conversations/list'],
    ['/channels/web/default/chats', '/channels/web/default/chats'],
  ])('[F14] adds the agent to requests for its own data: %s', (path, asked) => {
    expect(addAgentToPath(path, undefined)).toBe(path);
    at('#/memory?agent=support');
    expect(addAgentToPath(path)).toBe(asked);
  });
});
