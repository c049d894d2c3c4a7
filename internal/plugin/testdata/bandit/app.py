import pickle
import subprocess


def run(name):
    subprocess.call("ls " + name, shell=True)


def load(data):
    return pickle.loads(data)
