import { describe, expect, it } from 'vitest';
import { type AgentSummary, findAnsweringAgent, resolveAgentSelection } from './agents.tsx';
import { parseRoute } from './route.ts';

const agent = (name: string, title: string): AgentSummary => ({
  ...{ name, title, isDefault: name === 'main' },
  ...{ emoji: null, profile: null, model: 'm', routes: [] },
});
const ADA = agent('main', 'Ada');
const DESK = agent('support', 'Help desk');

describe('agents on the page', () => {
  it('[F14] does not mention agents anywhere if there is only one', () => {
    const nowhere = { all: [], chosen: undefined, inTitles: null, state: 'here' };
    for (const hash of ['#/memory', '#/memory?agent=main', '#/'])
      expect(resolveAgentSelection([ADA], parseRoute(hash), 'own')).toEqual(nowhere);
    expect(findAnsweringAgent([], 'telegram:default:1')).toBeUndefined();
  });

  it.each([
    ['#/memory', 'own', undefined, 'Ada'],
    ['#/memory?agent=support', 'own', DESK, 'Help desk'],
    ['#/why', 'rows', undefined, null],
    ['#/why?agent=main', 'rows', ADA, 'Ada'],
    ['#/settings?agent=support', undefined, DESK, null],
    ['#/chat/%40support%2Fmain', undefined, DESK, null],
  ] as const)(
    '[F14] reads the agents from the address %s and names them in titles',
    (hash, kind, chosen, inTitles) => {
      const agents = resolveAgentSelection([ADA, DESK], parseRoute(hash), kind);
      expect(agents).toEqual({ all: [ADA, DESK], chosen, inTitles, state: 'here' });
    },
  );

  it('[F14] reports an agent as missing after it was removed', () => {
    for (const found of [[ADA], [ADA, DESK]])
      expect(resolveAgentSelection(found, parseRoute('#/memory?agent=lab'), 'own').state).toBe(
        'gone',
      );
  });

  it('[F14] recognizes the agent from the id of a conversation or chat', () => {
    const of = (id: string) => findAnsweringAgent([ADA, DESK], id)?.title;
    expect(
      ['main', 'telegram:default:5', '@support/main', '@support/web:default:x'].map(of),
    ).toEqual(['Ada', 'Ada', 'Help desk', 'Help desk']);
    expect(of('@lab/main')).toBeUndefined();
  });
});
