import type { Mutation } from './mutations.ts';

const TAKEOVERS = 'packages/store/src/takeovers.ts';

/** Planted faults in chats taken over by a person. */
export const TAKEOVER_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a claim does not check for a takeover of the conversation',
    breaks: 'U12',
    file: 'packages/store/src/lanes.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the product
    text: "    and (taken_over_until is null or not (${buildTakenOverCondition(SHARED_NOW, 'conversation')}))\n  returning",
    by: '  returning',
    scenes: ['takeovers-embedded', 'takeovers-shared'],
    within: 5,
  },
  {
    name: 'a takeover leaves the lane to the running turn',
    breaks: 'U12',
    file: TAKEOVERS,
    text: 'set epoch = epoch + 1, lease_owner = null, lease_until = null,\n    taken_over_until',
    by: 'set taken_over_until',
    scenes: ['takeovers-embedded', 'takeovers-shared'],
    within: 5,
  },
  {
    name: 'handing back has no effect before the takeover expires',
    breaks: 'U12',
    file: TAKEOVERS,
    text: 'sql.send(HAND_BACK, { id });',
    by: '',
    scenes: ['takeovers-embedded', 'takeovers-shared'],
    within: 5,
  },
  {
    name: 'a repeated request sends its reply again',
    breaks: 'U12',
    file: 'packages/agent/src/takeover/person-reply.ts',
    text: 'JSON.stringify([conversationId, requestId])',
    by: 'JSON.stringify([conversationId, requestId, Math.random()])',
    scenes: ['takeovers-embedded', 'takeovers-shared'],
    faults: 'kill,pause',
    within: 20,
  },
  {
    name: 'a reply is not in the history',
    breaks: 'U12',
    file: 'packages/store/src/person-replies.ts',
    text: 'appendHistory(sql, reply.entries(answered),',
    by: 'appendHistory(sql, reply.entries(answered).slice(0, -1),',
    scenes: ['takeovers-embedded', 'takeovers-shared'],
    within: 5,
  },
];
