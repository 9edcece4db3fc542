import type { CliContext } from '../../cli.ts';
import { CliError, formatCommandLine } from '../../data-folder.ts';
import { findGateway } from '../../running-gateway.ts';
import { startTemporaryGateway } from '../chat.ts';
import { createGatewaySetup, createOfflineSetup } from './installation.ts';
import { linkOwner, linkPhone } from './link.ts';
import { CancelledError, openQuestions, type SaveSteps } from './questions.ts';

/**
 * `parley setup`: asks the questions from *Set up* on the page in the terminal, and tests the
 * answers in the same way. Each choice is saved immediately after its last question; Ctrl-C before
 * that leaves the settings file unchanged.
 */
export async function runSetup(cli: CliContext): Promise<number> {
  const { folder, env } = cli;
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CliError(
      'setup-needs-terminal',
      `"parley setup" asks questions, so it has to run in a terminal. You can also start Parley and open "Set up" on its page ("${formatCommandLine('token show', folder)}" prints the address), or edit ${folder.settingsFile}, which explains each setting.`,
    );
  }
  const gateway = await findGateway(folder, env);
  const ui = await openQuestions();
  let isWritten = false;
  try {
    ui.intro('Parley: set up');
    const installation =
      gateway === null ? await createOfflineSetup(cli) : createGatewaySetup(gateway);
    const saves = await ui.ask(installation);
    if (saves.length > 0) {
      await ui.confirmed(
        `Write this into ${folder.settingsFile}? A copy of the previous file is kept.`,
      );
      isWritten = true;
      for (const save of saves) ui.show(await save());
    }
    return await finishSetup(cli, gateway !== null, saves, ui);
  } catch (error) {
    if (!(error instanceof CancelledError)) throw error;
    ui.cancel(isWritten ? 'The answers saved so far are kept.' : 'Nothing was written.');
    return 130;
  }
}

/**
 * Carries out the last steps, which need a running gateway: it shows WhatsApp's code and reports
 * who writes to the bot.
 */
async function finishSetup(
  cli: CliContext,
  isRunning: boolean,
  saves: SaveSteps,
  ui: Awaited<ReturnType<typeof openQuestions>>,
): Promise<number> {
  const { folder, env } = cli;
  const state = await (await createOfflineSetup(cli)).state();
  const isAsked = state.channels.length > 0 && (state.owners.length === 0 || saves.length > 0);
  if (isAsked && (await ui.wantsLink(isRunning))) {
    const own = isRunning ? null : await startTemporaryGateway(folder, env);
    try {
      const gateway = await findGateway(folder, env);
      if (gateway === null)
        throw new CliError('not-running', 'Parley has stopped in the meantime.');
      const running = createGatewaySetup(gateway);
      await linkPhone(running, ui);
      await linkOwner(running, ui);
    } finally {
      await own?.close();
    }
  }
  if (isRunning) {
    ui.outro('Done. Parley is running with the saved settings.');
    return 0;
  }
  if (!(await ui.wantsStart())) {
    ui.outro(`Done. Start Parley with: ${formatCommandLine('start', folder)}`);
    return 0;
  }
  ui.outro('Done.');
  return (await import('../start.ts')).runStart(folder, env, () => {});
}
