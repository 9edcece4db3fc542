import type { LinkResult } from '@parley/store';
import { describe, expect, it } from 'vitest';
import { createMessage } from '../testing/ingress-scene.ts';
import { createLinkNotices, parseLinkAction, renderLinkResult } from './link.ts';

const route = {
  channel: 'web',
  account: 'default',
  chatId: 'c',
  target: { dialect: 'plain', maxLength: 100, unit: 'utf16' },
} as const;

describe('an argument of /link', () => {
  it.each([
    ['', { kind: 'make', code: 'NEWCODE2' }],
    ['abcd-2345', { kind: 'type', code: 'ABCD2345' }],
    ['off', { kind: 'leave', personId: 'telegram:42' }],
    ['OFF web:7', { kind: 'leave', personId: 'web:7' }],
    ['official', null],
    ['off web:7 now', null],
    ['12', null],
  ])('[F13] %j is parsed as %j', (argument, action) => {
    expect(parseLinkAction(argument, 'telegram:42', 'NEWCODE2')).toEqual(action);
  });
});

const LINKED = { otherRoute: route, mainConversation: null };

describe('the answers to /link', () => {
  it.each<[LinkResult, string]>([
    [{ kind: 'code', code: 'C', members: [], typist: null }, '/link C'],
    [{ kind: 'code', code: 'C', members: ['a:1'], typist: 'b:2' }, '`b:2` typed your code'],
    [{ kind: 'code', code: 'C', members: ['a:1'], typist: null }, 'Linked so far: `a:1`'],
    [{ kind: 'own-code' }, 'from your other account'],
    [{ kind: 'taken' }, 'Another account'],
    [{ kind: 'owner-must-make' }, 'make the code here'],
    [{ kind: 'to-confirm', code: 'C', makerRoute: route, mainConversation: null }, 'confirm it'],
    [{ kind: 'linked', members: ['a:1', 'b:2'], ...LINKED }, '`a:1`, `b:2`'],
    [{ kind: 'left', personId: 'b:2' }, 'no longer linked'],
    [{ kind: 'not-linked' }, 'not linked with yours'],
    [{ kind: 'unknown-code' }, 'not valid'],
  ])('[F13] for the result %j', (result, words) => {
    expect(renderLinkResult(result)).toContain(words);
  });

  it('[F13] shows the creator of a code who typed it, with a name that cannot impersonate anyone', () => {
    const message = createMessage({ sender: { id: '9', name: '`**Ann**`\n' } });
    const asks = {
      kind: 'to-confirm',
      code: 'C',
      makerRoute: route,
      mainConversation: null,
    } as const;
    const [news] = createLinkNotices(asks, message, undefined);
    expect(news?.route).toBe(route);
    expect(news?.body.plain).toContain('**Ann** (telegram:9) typed your code');
    expect(createLinkNotices({ kind: 'taken' }, message, undefined)).toEqual([]);
  });
});
