// Sound of one recording: a channel alone, with true silence on the other side. The graph is made on first use, as
// browsers start an audio context only after a click or a key.

/** Gain of [caller, agent]. */
const GAINS = { both: [1, 1], caller: [1, 0], agent: [0, 1] };

/**
 * @param {HTMLMediaElement} audio a stereo recording: caller left, agent right
 * @returns {{context: AudioContext, output: AudioNode, resume: () => Promise<void>, set: (solo: string) => void, close: () => Promise<void>}}
 */
export function soloGraph(audio) {
  const context = new AudioContext();
  const splitter = context.createChannelSplitter(2);
  const output = context.createChannelMerger(2);
  const gains = [0, 1].map((side) => {
    const gain = context.createGain();
    splitter.connect(gain, side);
    gain.connect(output, 0, side);
    return gain;
  });
  context.createMediaElementSource(audio).connect(splitter);
  output.connect(context.destination);
  return {
    context,
    output,
    resume: () => context.resume(),
    close: () => context.close(),
    set(solo) {
      gains.forEach((gain, side) => (gain.gain.value = GAINS[solo][side]));
    },
  };
}
