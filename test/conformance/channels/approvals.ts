import { expect } from 'vitest';
import { getMessageText } from '../../model/chat-request.ts';
import type { ChannelBehavior } from './behaviour.ts';
import type { ChatLocation, VisibleMessage } from './peer.ts';
import type { ChannelScene } from './scene.ts';

/** The owner requests a call that needs approval; returns the question and its code. */
async function requestApproval(
  scene: ChannelScene,
  place: ChatLocation,
): Promise<{ question: VisibleMessage; code: string }> {
  const found = () =>
    scene.answers(place).flatMap((seen) => {
      const code = /Reply \/approve (\w{6})/.exec(seen.text)?.[1];
      return code === undefined ? [] : [{ question: seen, code }];
    });
  const before = found().length;
  await scene.ask(place, 'wish:clock');
  await scene.peer.waitFor(() => found().length > before);
  const last = found().at(-1);
  if (last === undefined) throw new Error('nothing was asked');
  return last;
}

const count = (scene: ChannelScene, place: ChatLocation, words: string) =>
  scene.answers(place).filter(({ text }) => text.includes(words)).length;

/**
 * Waits until the text has occurred one more time than before, and then for the next answer, which
 * proves that the text was not repeated.
 */
async function waitForRepeat(
  scene: ChannelScene,
  place: ChatLocation,
  words: string,
  act: () => unknown,
) {
  const before = count(scene, place, words);
  await act();
  await scene.peer.waitFor(() => count(scene, place, words) > before);
  await scene.exchange(place, `afterwards ${scene.answers(place).length}`);
  expect(count(scene, place, words)).toBe(before + 1);
}

const pressing =
  (label: string, words: string) =>
  async (scene: ChannelScene): Promise<void> => {
    const place = scene.peer.ownerPlace;
    const owner = scene.peer.owner.replace(/^[^:]*:/, '');
    const { question } = await requestApproval(scene, place);
    const press = () => scene.peer.press?.(place, question.id, label, owner);
    await waitForRepeat(scene, place, words, press);
  };

/** In a direct chat a bare number is an answer; in a group the message must quote the question. */
async function expectChoice(scene: ChannelScene, place: ChatLocation): Promise<void> {
  await scene.ask(place, 'wish:choice');
  const [question] = await scene.until(place, 'Which colour?');
  const quote = place.kind === 'direct' ? {} : { replyTo: question?.id ?? '' };
  await scene.peer.say(place, { text: '2', ...quote });
  await scene.until(place, 'You said:');
  const told = scene.model.requests.at(-1)?.body.messages.map(getMessageText);
  expect(told).toContain('They chose: green');
}

/** Finds a question in a chat by text that only the question contains. */
async function findQuestion(scene: ChannelScene, place: ChatLocation): Promise<string> {
  const [question] = await scene.until(place, 'Which colour?');
  return question?.id ?? '';
}

/** Many choices appear as a menu; selecting one counts as that person's button press. */
async function expectMenuChoice(scene: ChannelScene): Promise<void> {
  const place = scene.peer.group();
  const [asker, other] = [scene.peer.other(place), scene.peer.other(place)];
  await scene.peer.say(place, { text: 'wish:choice:25', mention: true, from: asker });
  const question = await findQuestion(scene, place);
  scene.peer.choose?.(place, question, 'shade 3', other);
  await scene.until(place, 'I asked another person that.');
  scene.peer.choose?.(place, question, 'shade 21', asker);
  await scene.once(place, 'The tool said: They chose: shade 21');
}

/** Text entered in a form only counts for the person who was asked. */
async function expectFormAnswer(scene: ChannelScene): Promise<void> {
  const place = scene.peer.group();
  const [asker, other] = [scene.peer.other(place), scene.peer.other(place)];
  await scene.peer.say(place, { text: 'wish:choice', mention: true, from: asker });
  const question = await findQuestion(scene, place);
  await scene.peer.fillIn?.(place, question, 'Answer…', { from: other, words: 'red then' });
  await scene.until(place, 'I asked another person that.');
  const words = 'something like teal,\nbut paler';
  await scene.peer.fillIn?.(place, question, 'Answer…', { from: asker, words });
  await scene.once(place, 'The tool said: They answered in their own words: something like teal');
}

/** The plan in an answer can be run with its button; editing the answer removes the button. */
async function expectPlanButton(scene: ChannelScene): Promise<void> {
  const place = scene.peer.ownerPlace;
  await scene.peer.say(place, { text: '/mode plan' });
  await scene.until(place, 'write a plan');
  await scene.exchange(place, 'what to do about the weather');
  const plan = await scene.peer.waitFor(() =>
    scene.answers(place).findLast(({ buttons }) => buttons?.includes('Run the plan')),
  );
  await scene.peer.say(place, { text: '/mode agent' });
  await scene.until(place, 'I use all my tools');
  await scene.ask(place, 'wish:reword');
  const now = await scene.peer.waitFor(() =>
    scene.answers(place).find(({ text }) => text === 'The weather is fine.'),
  );
  expect(now).toEqual({ ...plan, text: 'The weather is fine.', buttons: undefined });
}

/**
 * Approvals and other questions are decided by buttons where the platform has them, and by a code
 * everywhere.
 */
export const APPROVALS: readonly ChannelBehavior[] = [
  {
    title: '[G05] a call that needs approval waits for its code, and runs once',
    run: async (scene) => {
      const place = scene.peer.ownerPlace;
      const { code } = await requestApproval(scene, place);
      await waitForRepeat(scene, place, 'The tool said: It is', () =>
        scene.peer.say(place, { text: `/approve ${code}` }),
      );
    },
  },
  {
    title: '[G05] a code also denies it, and the model is told',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.ownerPlace;
      const { code } = await requestApproval(scene, place);
      await waitForRepeat(scene, place, 'The tool said: current_time was not run', () =>
        scene.peer.say(place, { text: `/deny ${code}` }),
      );
    },
  },
  {
    title: '[G05] a plain yes or no right after the question also decides it',
    isSameEverywhere: true,
    run: async (scene) => {
      const place = scene.peer.ownerPlace;
      await requestApproval(scene, place);
      await waitForRepeat(scene, place, 'The tool said: It is', () =>
        scene.peer.say(place, { text: 'Yes, please!' }),
      );
      await requestApproval(scene, place);
      await waitForRepeat(scene, place, 'The tool said: current_time was not run', () =>
        scene.peer.say(place, { text: 'Nein.' }),
      );
    },
  },
  {
    title:
      '[G02] a question with choices is answered by its number, in a group by quoting the question',
    needs: ['quotes'],
    run: async (scene) => {
      await expectChoice(scene, scene.peer.direct());
      await expectChoice(scene, scene.peer.group());
    },
  },
  {
    title: '[F04] [G05] pressing its button approves it, once',
    needs: ['buttons'],
    run: pressing('Approve', 'The tool said: It is'),
  },
  {
    title: '[F04] [G05] pressing the other button denies it',
    needs: ['buttons'],
    run: pressing('Deny', 'The tool said: current_time was not run'),
  },
  {
    title:
      '[F18] [G05] one of many choices is selected from a menu, only by the person who was asked',
    needs: ['forms'],
    run: expectMenuChoice,
  },
  {
    title: '[F18] [G05] free text is entered in a form, only by the person who was asked',
    needs: ['forms'],
    run: expectFormAnswer,
  },
  {
    title: '[F04] [G05] an edit removes the buttons of a message',
    needs: ['buttons', 'bot-edits'],
    run: expectPlanButton,
  },
];
