import { spellOutHiddenTargets } from './text.ts';
import type { Checklist } from './wire-cards.ts';

/** A checklist with its title and its tasks, each marked as done or open. */
export function renderChecklist(checklist: Checklist): string {
  const title = spellOutHiddenTargets({
    text: checklist.title,
    entities: checklist.title_entities,
  });
  return [`[Checklist: ${title}]`, ...checklist.tasks.map(renderTask)].join('\n');
}

function renderTask(task: Checklist['tasks'][number]): string {
  const { completed_by_user: person, completed_by_chat: chat, completion_date = 0 } = task;
  const name = person
    ? [person.first_name, person.last_name].filter(Boolean).join(' ')
    : chat?.title;
  const isDone = person !== undefined || chat !== undefined || completion_date > 0;
  const words = spellOutHiddenTargets({ text: task.text, entities: task.text_entities });
  return `- [${isDone ? 'x' : ' '}] ${words}${name ? ` (done by ${name})` : ''}`;
}

/** The task that a message replies to, shown before the checklist itself. */
export function renderAnsweredTask({ tasks }: Checklist, id: number): string {
  const task = tasks.find((one) => one.id === id);
  return task === undefined ? '' : `[Task: ${task.text}]`;
}
