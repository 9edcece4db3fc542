import { describe, expect, it } from 'vitest';
import {
  BOOTSTRAP_TURNS,
  type BootstrapMark,
  type BootstrapStep,
  decideBootstrap,
} from './decide-bootstrap.ts';

const TURN = { conversationId: 'web:default:owner', session: 0, messageId: 'm9' };
const BEGUN: BootstrapMark = { state: 'begun', ...TURN, messageId: 'm8', turns: 3 };

describe('BOOTSTRAP.md in a turn of an owner', () => {
  it('[W08] leads the first conversation of a new workspace', () => {
    expect(decideBootstrap({ state: 'new' }, true, TURN)).toEqual({
      kind: 'lead',
      mark: { state: 'begun', ...TURN, turns: 1 },
    });
  });

  it('[W08] goes on leading it, and counts', () => {
    expect(decideBootstrap(BEGUN, true, TURN)).toEqual({
      kind: 'lead',
      mark: { ...BEGUN, messageId: 'm9', turns: 4 },
    });
  });

  it('[W08] counts a turn that is run again once, also the last one', () => {
    const last: BootstrapMark = { ...BEGUN, messageId: 'm9', turns: BOOTSTRAP_TURNS };
    expect(decideBootstrap(last, true, TURN)).toEqual({ kind: 'lead', mark: last });
  });

  it.each<[string, BootstrapMark | null, boolean, object, BootstrapStep['kind']]>([
    ['in a workspace that Parley did not make', null, true, {}, 'leave-out'],
    ['in another conversation', BEGUN, true, { conversationId: 'telegram:x:1' }, 'leave-out'],
    ['after /new', BEGUN, true, { session: 1 }, 'retire'],
    ['after twenty turns', { ...BEGUN, turns: BOOTSTRAP_TURNS }, true, {}, 'retire'],
    ['once somebody took it away', BEGUN, false, {}, 'retire'],
    ['taken away before anybody talked', { state: 'new' }, false, {}, 'retire'],
  ])('[W08] is not used %s', (_, mark, saysSomething, change, kind) => {
    expect(decideBootstrap(mark, saysSomething, { ...TURN, ...change }).kind).toBe(kind);
  });
});
