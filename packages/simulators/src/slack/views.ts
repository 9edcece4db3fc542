import { checkBlocks } from './check-blocks.ts';
import { createInvalidBlocksRefusal, createRefusal, type RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import { isRecord, type Json } from './wire.ts';
import type { View } from './workspace.ts';

/**
 * Implements `views.open` and `views.push`: opens a form for the person who created the trigger.
 */
export function openView({ workspace, interactions }: SlackServers, args: RequestArguments): Json {
  const trigger = args.required('trigger_id');
  const content = parseView(args, 'modal');
  const reason = interactions.useTrigger(trigger);
  if (reason !== undefined) throw createRefusal(reason);
  const user = interactions.get(trigger.split('.')[0] ?? '')?.user ?? '';
  const view: View = { id: workspace.ids.next('V'), user, content };
  workspace.views.set(view.id, view);
  workspace.transcript.changes.changed();
  return { view: toWireView(view) };
}

/** `views.update` */
export function updateView({ workspace }: SlackServers, args: RequestArguments): Json {
  const view = workspace.views.get(args.required('view_id'));
  if (view === undefined) throw createRefusal('not_found');
  view.content = parseView(args, 'modal');
  workspace.transcript.changes.changed();
  return { view: toWireView(view) };
}

/** Implements `views.publish`: sets the app's home page for a person. */
export function publishView({ workspace }: SlackServers, args: RequestArguments): Json {
  const user = args.required('user_id');
  if (!workspace.members.has(user)) throw createRefusal('invalid_user_id');
  const view: View = { id: `home-${user}`, user, content: parseView(args, 'home') };
  workspace.views.set(view.id, view);
  workspace.transcript.changes.changed();
  return { view: toWireView(view) };
}

function parseView(args: RequestArguments, type: 'modal' | 'home'): Json {
  const view = args.json('view');
  if (!isRecord(view) || view.type !== type || !Array.isArray(view.blocks))
    throw createRefusal('invalid_arguments');
  const blocks = view.blocks.filter((block) => !isRecord(block) || block.type !== 'input');
  const errors = blocks.length === 0 ? [] : checkBlocks(blocks, '/view/blocks');
  if (errors.length > 0) throw createInvalidBlocksRefusal(errors);
  return view;
}

/** Returns a view in the form used in responses and payloads. */
export function toWireView({ id, content }: View): Json {
  return { ...content, id, hash: `${id}.1`, state: { values: {} }, root_view_id: id };
}
