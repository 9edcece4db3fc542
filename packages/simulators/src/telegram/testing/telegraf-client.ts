import { Telegraf, TelegramError } from 'telegraf';
import { startTelegramDouble } from '../start-telegram-double.ts';
import type { TelegramDouble, TelegramDoubleOptions } from '../telegram-double.ts';

const running: TelegramDouble[] = [];

/** Starts a double and a real telegraf bot connected to it. */
export async function startTelegramTestDouble(options: TelegramDoubleOptions = {}) {
  const double = await startTelegramDouble(options);
  running.push(double);
  const bot = new Telegraf(double.token, { telegram: { apiRoot: double.apiRoot } });
  return { double, bot, telegram: bot.telegram };
}

/** Returns the error of a call that must be refused. */
export async function getRefusalData(
  call: Promise<unknown>,
): Promise<{ code: number; description: string; parameters: unknown }> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TelegramError))
    throw new Error(`Expected a refusal, got ${String(error)}`);
  return { code: error.code, description: error.description, parameters: error.parameters };
}

/** Closes all doubles created by `start`. */
export async function closeTestDoubles(): Promise<void> {
  await Promise.all(running.splice(0).map((double) => double.close()));
}
