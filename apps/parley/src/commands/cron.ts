import type { CronAnswer, CronOrder, CronWish, InboundMessage } from '@parley/contracts';
import { silentLogger } from '@parley/contracts';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { createCronDesk, createFindTarget } from '@parley/proactive';
import { openStore, type Store } from '@parley/store';
import type { DataFolder } from '../data-folder.ts';
import { LOCAL_OWNERS } from '../local-owners.ts';
import { servedBy } from '../message-settings.ts';
import { newId } from '../new-id.ts';
import { cronDeskDeps } from '../open-cron.ts';
import { planAccounts } from '../plan-accounts.ts';
import { type LoadedSettings, readSettings } from '../read-settings.ts';
import { visible } from '../terminal/visible-text.ts';

/** What `parley cron` is to do. `to`: whose chat it is for; the owner’s when absent. */
export type CronCommand =
  | Extract<CronOrder, { readonly id: string } | { readonly action: 'list' }>
  | { readonly action: 'add'; readonly wish: CronWish; readonly to: string | undefined };

type Print = (text: string) => void;

/**
 * `parley cron …` (H08): 0 done, 1 not, and why is printed. It works on the database, so it does not matter
 * whether a gateway runs; one that does sees it within 15 seconds.
 */
export async function cronCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  command: CronCommand,
  print: Print,
): Promise<number> {
  const loaded = readSettings(folder, env);
  const { settings } = loaded;
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock: Date.now });
  try {
    const { ok, words } = await carryOut(loaded, store, command);
    for (const line of words.replaceAll('`', '').split('\n')) print(visible(line));
    return ok ? 0 : 1;
  } finally {
    await store.close();
  }
}

async function carryOut(
  loaded: LoadedSettings,
  store: Store,
  command: CronCommand,
): Promise<CronAnswer> {
  const { settings } = loaded;
  const owners = [...settings.owners, ...LOCAL_OWNERS];
  const accounts = planAccounts(loaded, owners, CHANNEL_DEFINITIONS);
  const parts = { store, accounts, clock: Date.now, log: silentLogger };
  const ask = createCronDesk(cronDeskDeps(settings, parts));
  if (command.action !== 'add') return ask(command, { kind: 'operator' });
  const findTarget = createFindTarget({
    ...parts,
    owners,
    serves: servedBy(accounts),
    tell: 'last',
    chats: settings.tools.message.chats,
  });
  const { to, wish } = command;
  const target = await findTarget({ name: 'cron', ...(to !== undefined && { tell: to }) });
  if (target.kind === 'none') return { ok: false, words: `Not added: ${target.reason}` };
  const { route, last, isOwners } = target;
  const origin = isOwners ? last : withoutPerson(last);
  const askedBy = `command:${newId('order')}`;
  return ask({ action: 'add', askedBy, origin, route, wish }, { kind: 'operator' });
}

/** A job that nobody in a group has asked for is none of theirs. */
function withoutPerson(message: InboundMessage): InboundMessage {
  return { ...message, sender: { id: 'operator', name: 'the operator', isBot: false } };
}
