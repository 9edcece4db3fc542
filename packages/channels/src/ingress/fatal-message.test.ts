import { type CrashableWork, type CrashCounts, noWorkRecord, type WorkRecord } from '@parley/core';
import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene, OWNER_CHAT, POLICY } from '../testing/ingress-scene.ts';

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

/**
 * The receipt record of a process started after this message crashed earlier processes the given
 * number of times.
 */
function recordWith(
  ends: CrashCounts,
): WorkRecord & { readonly recorded: readonly CrashableWork[] } {
  const recorded: CrashableWork[] = [];
  return {
    recorded,
    run: (work, task) => {
      recorded.push(work);
      return noWorkRecord.run(work, task);
    },
    endsOf: ({ key }) => (key === 'telegram default 42 1' ? ends : { hangs: 0, deaths: 0 }),
  };
}

describe('a message whose ingress crashes the process', () => {
  it('[D13] is recorded while it is received, and received again after the first hang', async () => {
    const work = recordWith({ hangs: 1, deaths: 0 });
    const outcome = await scene.ingressWith({}, { work })(createMessage(), CAPABILITIES);
    expect(outcome.kind).toBe('accepted');
    expect(work.recorded).toEqual([{ kind: 'ingress', key: 'telegram default 42 1' }]);
  });

  it('[D13] is refused after the second hang, whatever it contains, with a notice and a reason; the next message is accepted', async () => {
    const receive = scene.ingressWith({}, { work: recordWith({ hangs: 2, deaths: 0 }) });
    const fatal = createMessage({ text: '/new' });
    const reason =
      'receiving it failed: it blocked the process 2 times, until the watchdog ended it';
    expect(await receive(fatal, CAPABILITIES)).toEqual({ kind: 'refused', reason });
    expect(await scene.told()).toEqual([expect.stringContaining('I have given up on it')]);
    const why = await scene.store.decisions.stories(OWNER_CHAT, 1);
    expect(JSON.stringify(why)).toContain(reason);
    expect((await receive(createMessage({ messageId: '2' }), CAPABILITIES)).kind).toBe('accepted');
  });

  it('[F05] does not cause a notice to people who would not get an answer', async () => {
    const work = recordWith({ hangs: 0, deaths: 5 });
    const receive = scene.ingressWith(
      { access: { ...POLICY.access, direct: 'disabled' } },
      { work },
    );
    expect((await receive(createMessage({ sender: { id: '9' } }), CAPABILITIES)).kind).toBe(
      'refused',
    );
    expect(await scene.told()).toEqual([]);
  });

  it('[D13] is refused only in the log when the notice crashed the process as well', async () => {
    const work = recordWith({ hangs: 3, deaths: 0 });
    expect((await scene.ingressWith({}, { work })(createMessage(), CAPABILITIES)).kind).toBe(
      'refused',
    );
    expect(await scene.told()).toEqual([]);
  });
});
