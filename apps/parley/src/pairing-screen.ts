import type { AccountStatus } from '@parley/gateway';

/** Where codes are drawn: standard output, as far as it matters here. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** Draws the codes that phones scan to link an account, while `parley start` runs. */
export interface PairingScreen {
  /** Hears of every state of every account. */
  note(status: AccountStatus): void;
  /** The banner is printed: from now on codes are drawn. Resolves when those there are have been. */
  open(): Promise<void>;
}

/** A code lives for 20 s to a minute; after so many nobody is looking, and the terminal is left alone. */
const DRAWN_AT_MOST = 6;

/**
 * Makes the screen. A code is as good as a key, so it is drawn for people at a terminal only: what is
 * not a terminal is often a log.
 */
export function createPairingScreen(screen: Screen): PairingScreen {
  const waiting = new Map<string, AccountStatus>();
  const drawn = new Map<string, number>();
  let isOpen = false;
  const draw = async (name: string, { channel, state }: AccountStatus): Promise<void> => {
    if (state.kind !== 'pairing' || !screen.isTTY) return;
    const times = (drawn.get(name) ?? 0) + 1;
    drawn.set(name, times);
    if (times > DRAWN_AT_MOST + 1) return;
    screen.write(
      times > DRAWN_AT_MOST
        ? `\n${channel} still waits to be linked: the web page and "parley status" show its code.\n`
        : `\n${await drawCode(state.code)}\nScan this with the phone to link ${channel}. A new code follows when it has expired.\n`,
    );
  };
  return {
    note(status) {
      const name = `${status.channel}/${status.account}`;
      waiting.set(name, status);
      if (!isOpen) return;
      if (status.state.kind === 'connected' && drawn.delete(name)) {
        screen.write(`\n${status.channel} is linked: connected as ${status.state.as}.\n`);
      }
      draw(name, status).catch(() => {
        screen.write(`\nThe code of ${name} cannot be drawn here; the web page shows it.\n`);
      });
    },
    async open() {
      isOpen = true;
      for (const [name, status] of waiting) await draw(name, status);
    },
  };
}

/** A code as lines for a terminal, dark on light whatever its colours are. The library is loaded here. */
export async function drawCode(code: string): Promise<string> {
  const { default: qrcode } = await import('qrcode');
  return qrcode.toString(code, { type: 'terminal', small: true, errorCorrectionLevel: 'L' });
}
