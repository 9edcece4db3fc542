import { CAPABILITIES } from '@parley/core/testing';
import { describe, expect, it } from 'vitest';
import type { ChannelAdapter } from './adapter.ts';
import { findUndeclaredCapabilities } from './guard.ts';

const typing = { repeatMs: 1, show: () => Promise.resolve() };
const bare: ChannelAdapter = {
  capabilities: CAPABILITIES,
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  send: () => Promise.resolve({ platformMessageId: '1' }),
};
const typed = { ...CAPABILITIES, typing: true };
const streaming = { minIntervalMs: 1, update: typing.show, end: typing.show };

describe('the declaration of an adapter', () => {
  it.each<[what: string, adapter: ChannelAdapter, found: string[]]>([
    ['nothing of neither', bare, []],
    ['typing that is there', { ...bare, capabilities: typed, typing }, []],
    [
      'typing that is missing',
      { ...bare, capabilities: typed },
      ['"typing" is declared but missing'],
    ],
    ['typing not at all', { ...bare, typing }, ['"typing" is present but not declared']],
    ['streaming not at all', { ...bare, streaming }, ['"streaming" is present but not declared']],
    [
      'one of three capability objects',
      {
        ...bare,
        capabilities: { ...bare.capabilities, edit: true },
        messages: { edit: typing.show, react: typing.show },
      },
      ['"react" is present but not declared'],
    ],
  ])("[F04] is compared with the adapter's objects: %s", (_, adapter, found) => {
    expect(findUndeclaredCapabilities(adapter)).toEqual(found);
  });
});
