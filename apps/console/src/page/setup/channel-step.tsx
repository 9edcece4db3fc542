import type { SetupBot, SetupState } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { PairingView, pairingOf } from '../pairing.tsx';
import { useOperation } from '../ui/data.tsx';
import { ActionButton } from '../ui/widgets.tsx';
import { AnswerNote, Chooser, Field, Step, useStep } from './step.tsx';

/** A channel: its token is tried, and the bot’s name and picture shown, before it is saved. */
export function ChannelStep({ channels, platforms }: SetupState): VNode {
  const [id, setId] = useState('');
  const chosen = platforms.find((one) => one.id === id) ?? platforms[0];
  const [token, setToken] = useState('');
  const [phone, setPhone] = useState('');
  const { answer, isBusy, take, forget } = useStep();
  const takeAs = (name: 'setup/try-channel' | 'setup/save-channel'): void => {
    if (chosen === undefined) return;
    const { id: channel, asks } = chosen;
    void take(name, {
      channel,
      ...(token !== '' && { token }),
      ...(phone !== '' && asks === 'phone' && { phone }),
    });
  };
  const hasToken = chosen?.asks === 'token';
  const isSaved = chosen !== undefined && channels.includes(chosen.id);
  const names = [...new Set(channels)].join(', ');
  return (
    <Step title="2. Where people write to it" done={names === '' ? null : `Configured: ${names}`}>
      <Chooser
        label="Channel"
        options={platforms.map((one) => [one.id, one.name])}
        value={chosen?.id ?? ''}
        onChoose={(next) => {
          setId(next);
          forget();
          setToken('');
        }}
      />
      <p class="facts">{chosen?.needs}</p>
      {hasToken && <Field label="Token" value={token} isSecret onInput={setToken} />}
      {!hasToken && !isSaved && (
        <Field
          label="Its number, to type a code; empty: scan one"
          value={phone}
          onInput={setPhone}
        />
      )}
      <AnswerNote answer={answer} />
      {answer?.kind === 'works' && answer.bot && <BotCard {...answer.bot} />}
      <div class="actions">
        {hasToken && (
          <ActionButton
            label="Try the token"
            isBusy={isBusy || token === ''}
            onPress={() => takeAs('setup/try-channel')}
          />
        )}
        {(hasToken || !isSaved) && (
          <ActionButton
            label="Connect"
            look="is-main"
            isBusy={isBusy || (hasToken && token === '')}
            onPress={() => takeAs('setup/save-channel')}
          />
        )}
      </div>
      {isSaved && !hasToken && <LinkPhone channel={chosen.id} />}
    </Step>
  );
}

/** The bot whose token was tried. Its name and picture are its owner’s choice. */
function BotCard({ name, picture, invitation }: SetupBot): VNode {
  const address = usePictureOf(picture);
  return (
    <p class="setup-bot">
      {address === '' ? (
        <span class="setup-picture" aria-hidden="true">
          {name.replace(/^@/, '').slice(0, 1).toUpperCase()}
        </span>
      ) : (
        <img class="setup-picture" src={address} alt="" width={40} height={40} />
      )}
      <b>{name}</b>
      {invitation !== null && (
        <a href={invitation} target="_blank" rel="noopener noreferrer">
          Invite it to a server
        </a>
      )}
    </p>
  );
}

/** An address in memory: the browser finds out by the bytes what kind of picture they are. */
function usePictureOf(base64: string | null): string {
  const [address, setAddress] = useState('');
  useEffect(() => {
    if (base64 === null) return setAddress('');
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const made = URL.createObjectURL(new Blob([bytes]));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [base64]);
  return address;
}

/** A code follows the last one within a minute; the account connects in between. In ms. */
const POLL_INTERVAL_MS = 3_000;

/** The code of an account that waits for its phone, and then whose phone it is. */
function LinkPhone({ channel }: { readonly channel: string }): VNode | null {
  const report = useOperation('channels/report', {}, POLL_INTERVAL_MS).value;
  const accounts = report?.accounts.filter((one) => one.channel === channel) ?? [];
  const { unlinked } = pairingOf(accounts);
  return (
    <>
      {unlinked.map((account) => (
        <PairingView key={account.id} account={account} />
      ))}
      {accounts.map(
        ({ account, state }) =>
          state.kind === 'connected' && (
            <p key={account} class="outcome" role="status">
              Linked: {state.as}.
            </p>
          ),
      )}
    </>
  );
}
